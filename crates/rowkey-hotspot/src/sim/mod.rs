//! Tablets on nodes under load: the sampled-fluid model.
