//! Operations read from files: keys, JSON lines, CSV through a schema, compressed or not, with every line accounted for.
