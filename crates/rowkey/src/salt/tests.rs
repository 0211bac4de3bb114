use super::*;

#[test]
fn every_hash_is_found_by_its_name() {
    for hash in Hash::ALL {
        assert_eq!(Hash::from_name(hash.name()), Some(hash));
    }
    assert_eq!(Hash::from_name("sha1"), None);
}
