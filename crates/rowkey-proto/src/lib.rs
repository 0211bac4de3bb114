//! Messages, servers and clients of the Bigtable API (`google.bigtable.v2`, `google.bigtable.admin.v2`) and what they refer to.
//!
//! Everything in `generated/` is made by the workspace `protos` from the `.proto` files there, which also say what each message means.
//! Fields of type `bytes` of the data API are [`bytes::Bytes`].

#[path = "generated/google"]
#[rustfmt::skip]
#[expect(
    clippy::allow_attributes_without_reason,
    clippy::pedantic,
    missing_docs,
    reason = "generated code: what it means is said in the .proto files"
)]
/// The packages of `google`, nested as generated code expects them.
pub mod google {
    pub mod bigtable {
        pub mod admin {
            pub mod v2;
        }
        pub mod v2;
    }
    pub mod iam {
        pub mod v1;
    }
    pub mod longrunning;
    pub mod rpc;
    pub mod r#type;
}

pub use google::bigtable::admin::v2 as admin;
pub use google::bigtable::v2 as data;
pub use google::{iam::v1 as iam, longrunning, rpc};
