//! Tests the writer: its files, which this library and others read back, their metadata, and its behaviour on failures.

mod key_values;
mod leaves;
mod arrays;
pub(crate) mod schemas;
mod boolean_filters;
mod choices;
mod compare;

mod every_type;
mod by_hand;
mod uncommon;
mod runs;
mod chosen;
mod changing;
mod carried_choices;
mod cyclic_values;
mod properties;
mod sorting;
mod peer_reads;
mod peer_writes;
mod content_defined;
mod foreign_row_groups;
mod interrupt;
mod failures;
mod failing_output;
mod pages_on_threads;
mod metadata;
mod remote;
