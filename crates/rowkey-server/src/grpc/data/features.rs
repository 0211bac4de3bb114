//! What a client says that it can take.

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use prost::Message as _;
use rowkey_proto::data::FeatureFlags;
use tonic::metadata::MetadataMap;

/// Web-safe, with padding or without: clients differ.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The header `bigtable-features`; nothing if there is none, or if it cannot be read.
pub(super) fn features(metadata: &MetadataMap) -> FeatureFlags {
    let Some(text) = metadata.get("bigtable-features") else { return FeatureFlags::default() };
    let bytes = BASE64.decode(text.as_bytes()).unwrap_or_default();
    FeatureFlags::decode(&bytes[..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_read_with_and_without_padding() {
        let check = |text: Option<&'static str>, reverse: bool, last_scanned: bool| {
            let mut metadata = MetadataMap::new();
            if let Some(text) = text {
                metadata.insert("bigtable-features", text.parse().unwrap());
            }
            let features = features(&metadata);
            assert_eq!(
                (features.reverse_scans, features.last_scanned_row_responses),
                (reverse, last_scanned)
            );
        };
        // Fields 1 and 4 are true: 08 01 20 01.
        check(Some("CAEgAQ=="), true, true);
        check(Some("CAEgAQ"), true, true);
        check(Some("CAE="), true, false);
        check(Some("!"), false, false);
        check(None, false, false);
    }
}
