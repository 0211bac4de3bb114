# Rowkey in a container: the Bigtable API on 8086, the Key Visualizer page and /metrics on 8087, the store in /data.
#
#   docker build -t rowkey .
#   docker run --rm -p 127.0.0.1:8086:8086 -p 127.0.0.1:8087:8087 -v rowkey-data:/data rowkey
#
# Inside, it listens for everybody, or no port could be published. There is no encryption and no authentication: publish the ports on
# 127.0.0.1, as above, or on a network that you trust.
FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p rowkey-cli

FROM debian:bookworm-slim
RUN useradd --create-home --uid 10001 rowkey && mkdir /data && chown rowkey /data
COPY --from=build /src/target/release/rowkey /usr/local/bin/rowkey
USER rowkey
VOLUME /data
EXPOSE 8086 8087
STOPSIGNAL SIGTERM
ENTRYPOINT ["rowkey", "--store", "/data/store"]
CMD ["serve", "--address", "0.0.0.0:8086", "--http", "0.0.0.0:8087", "--log-level", "info"]
