//! Whole schema files in, schemas or messages out.

use super::testing::schema;
use crate::KeySchema;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_canonical_text_parses_back_to_an_equal_schema(schema in schema()) {
        let text = schema.to_toml();
        let parsed = KeySchema::parse(&text);
        prop_assert_eq!(parsed.as_ref(), Ok(&schema), "{}", text);
        prop_assert_eq!(parsed.unwrap().to_toml(), text);
    }

    #[test]
    fn random_text_is_an_error_and_never_a_panic(text in "\\PC{0,200}") {
        prop_assert!(KeySchema::parse(&text).is_err());
    }

    #[test]
    fn a_damaged_schema_file_never_panics(schema in schema(), edits in proptest::collection::vec((any::<proptest::sample::Index>(), 0_usize..4, "\\PC{0,3}"), 1..4)) {
        let mut text: Vec<char> = schema.to_toml().chars().collect();
        for (at, removed, inserted) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, inserted.chars());
        }
        let text: String = text.into_iter().collect();
        if let Ok(schema) = KeySchema::parse(&text) {
            prop_assert_eq!(KeySchema::parse(&schema.to_toml()), Ok(schema));
        }
    }
}
