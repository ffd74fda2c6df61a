//! The columns of a segment: data of each piece besides its words.

use std::sync::Arc;
use tantivy::SegmentReader;
use tantivy::columnar::ColumnValues;

use super::{Fields, Info};

/// The columns of a segment. Opening them takes longer than reading a few values.
pub(super) struct Columns {
    pub places: Arc<dyn ColumnValues<u64>>,
    pub infos: Arc<dyn ColumnValues<u64>>,
    pub times: Arc<dyn ColumnValues<i64>>,
    pub numbers: Arc<dyn ColumnValues<u64>>,
}

impl Columns {
    pub(super) fn open(segment: &SegmentReader, fields: &Fields) -> tantivy::Result<Columns> {
        let columns = segment.fast_fields();
        let schema = segment.schema();
        let name = |field| schema.get_field_name(field);
        let Fields { place, info, at, passage, .. } = *fields;
        Ok(Columns {
            places: columns.u64(name(place))?.values,
            infos: columns.u64(name(info))?.values,
            times: columns.i64(name(at))?.values,
            numbers: columns.u64(name(passage))?.values,
        })
    }

    /// The data of a piece.
    pub(super) fn info(&self, doc: u32) -> Info {
        Info::unpack(self.infos.get_val(doc))
    }
}

/// The column values of these pieces, read in one call.
pub(super) fn values<T>(column: &dyn ColumnValues<T>, docs: &[u32]) -> Vec<T>
where
    T: Copy + Default + PartialOrd + std::fmt::Debug + Send + Sync + 'static,
{
    let mut found = vec![T::default(); docs.len()];
    column.get_vals(docs, &mut found);
    found
}
