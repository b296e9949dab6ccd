//! Parquet, with the `parquet` crate without any of its features: no compression, no Arrow.
//!
//! Columns are INT64, DOUBLE and UTF-8 strings, all optional. A row group has about a million cells, whatever the number of
//! columns, so that memory stays bounded.

use super::columns::{Column, Holds};
use super::point::Cell;
use crate::{Error, Result};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Cells of a row group.
const GROUP: usize = 1 << 20;

/// Writes a table; `path` is for messages.
pub fn write(
    out: impl Write + Send,
    path: &Path,
    columns: &[Column],
    rows: impl Iterator<Item = Result<Vec<Cell>>>,
) -> Result<()> {
    let failed = |error: ParquetError| Error::io("cannot write", path)(io_error(error));
    let properties =
        WriterProperties::builder().set_created_by(concat!("tribo ", env!("CARGO_PKG_VERSION")).to_owned());
    let schema = schema(columns).map_err(failed)?;
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties.build())).map_err(failed)?;
    let most = (GROUP / columns.len().max(1)).max(1);
    let mut group = Vec::new();
    for cells in rows {
        group.push(cells?);
        if group.len() == most {
            write_group(&mut writer, columns, &group).map_err(failed)?;
            group.clear();
        }
    }
    if !group.is_empty() {
        write_group(&mut writer, columns, &group).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

fn schema(columns: &[Column]) -> std::result::Result<Arc<Type>, ParquetError> {
    let field = |column: &Column| {
        let (physical, logical) = match column.holds {
            Holds::Int => (Physical::INT64, None),
            Holds::Float => (Physical::DOUBLE, None),
            Holds::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<std::result::Result<Vec<_>, _>>()?;
    Type::group_type_builder("trials").with_fields(fields).build().map(Arc::new)
}

fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: &[Column],
    rows: &[Vec<Cell>],
) -> std::result::Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (index, column) in columns.iter().enumerate() {
        let Some(mut to) = group.next_column()? else { break };
        write_column(&mut to, column.holds, rows.iter().map(|row| &row[index]))?;
        to.close()?;
    }
    group.close()?;
    Ok(())
}

fn write_column<'a>(
    to: &mut SerializedColumnWriter<'_>,
    holds: Holds,
    cells: impl Iterator<Item = &'a Cell> + Clone,
) -> std::result::Result<(), ParquetError> {
    // A cell is present at level 1 and missing at level 0; values of another kind than the column's count as missing.
    match holds {
        Holds::Int => {
            let value = |cell: &Cell| if let Cell::Int(value) = cell { Some(*value) } else { None };
            let levels: Vec<i16> = cells.clone().map(|cell| i16::from(value(cell).is_some())).collect();
            let values: Vec<i64> = cells.filter_map(value).collect();
            to.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Holds::Float => {
            let value = |cell: &Cell| if let Cell::Float(value) = cell { Some(*value) } else { None };
            let levels: Vec<i16> = cells.clone().map(|cell| i16::from(value(cell).is_some())).collect();
            let values: Vec<f64> = cells.filter_map(value).collect();
            to.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
        Holds::Text => {
            let value = |cell: &Cell| match cell {
                Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                _ => None,
            };
            let levels: Vec<i16> = cells.clone().map(|cell| i16::from(value(cell).is_some())).collect();
            let values: Vec<ByteArray> = cells.filter_map(value).collect();
            to.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    Ok(())
}

/// The error of the file underneath, if that is what it is.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => *inner,
            Err(inner) => io::Error::other(inner.to_string()),
        },
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    fn columns() -> Vec<Column> {
        [("n", Holds::Int), ("x", Holds::Float), ("who", Holds::Text)]
            .map(|(name, holds)| Column { name: name.to_owned(), holds })
            .to_vec()
    }

    #[test]
    fn an_independent_reader_finds_the_same_bits() {
        let rows = [
            vec![Cell::Int(i64::MIN), Cell::Float(0.1 + 0.2), Cell::Text("zoë".into())],
            vec![Cell::Null, Cell::Float(-5e-324), Cell::Null],
            vec![Cell::Int(3), Cell::Null, Cell::Text(String::new())],
        ];
        let mut bytes = Vec::new();
        write(&mut bytes, Path::new("t"), &columns(), rows.iter().cloned().map(Ok)).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let read: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
        assert_eq!(read.len(), 3);
        assert_eq!(read[0].get_long(0).unwrap(), i64::MIN);
        assert_eq!(read[0].get_double(1).unwrap().to_bits(), (0.1_f64 + 0.2).to_bits());
        assert_eq!(read[0].get_string(2).unwrap(), "zoë");
        assert_eq!(read[1].get_double(1).unwrap().to_bits(), (-5e-324_f64).to_bits());
        assert!(read[1].get_long(0).is_err() && read[1].get_string(2).is_err(), "missing cells");
        assert_eq!(read[2].get_string(2).unwrap(), "");
    }

    #[test]
    fn long_tables_have_several_groups_and_empty_ones_none() {
        let n = GROUP / 3 + 5;
        let row = |i: usize| Ok(vec![Cell::Int(i as i64), Cell::Float(i as f64), Cell::Null]);
        let mut bytes = Vec::new();
        write(&mut bytes, Path::new("t"), &columns(), (0..n).map(row)).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        assert_eq!(reader.metadata().file_metadata().num_rows(), n as i64);
        let mut bytes = Vec::new();
        write(&mut bytes, Path::new("t"), &columns(), std::iter::empty()).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }

    #[test]
    fn errors_of_the_file_underneath_keep_their_kind() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let rows = (0..100_000).map(|i| Ok(vec![Cell::Int(i), Cell::Null, Cell::Null]));
        match write(Closed, Path::new("t"), &columns(), rows) {
            Err(Error::Io { source, .. }) => assert_eq!(source.kind(), io::ErrorKind::BrokenPipe),
            other => panic!("{other:?}"),
        }
    }
}
