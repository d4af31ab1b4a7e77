//! The primitives of Kafka's wire format, over bytes that anybody may have written.
//!
//! Not a general Kafka codec: it reads what the records of the coordinators need, and it never writes. Every length
//! is checked against what remains before anything is allocated, so no input can make it panic or reserve more
//! memory than a small multiple of its own size.

use uuid::Uuid;

use crate::model::Name;

/// Why bytes could not be read as the record that they claim to be. `at` is an offset in bytes from the start of the
/// key, the value, or the tagged field that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end before the field does, or a length prefix claims more than is left.
    #[error("truncated at byte {at}: {needed} bytes needed, {left} left")]
    Truncated { at: usize, needed: usize, left: usize },
    /// A length below -1, or null where the schema has no null.
    #[error("a length of {length} at byte {at} is not valid there")]
    Length { at: usize, length: i64 },
    /// An unsigned varint of more than 32 bits.
    #[error("a varint at byte {at} is longer than 32 bits")]
    Varint { at: usize },
    /// A tagged field whose announced size is not the size of its content.
    #[error("tagged field {tag} has {left} bytes too many")]
    TagSize { tag: u32, left: usize },
    /// A negative version, which no Kafka writes.
    #[error("version {version} is negative")]
    Version { version: i16 },
}

type Result<T> = std::result::Result<T, DecodeError>;

/// A cursor over one key, value, or tagged field.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    left: &'a [u8],
    length: usize,
    flexible: bool,
    unknown_tags: usize,
}

impl<'a> Reader<'a> {
    /// Reads classic (not flexible) fields: int16 and int32 lengths, no tagged sections.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes, length: bytes.len(), flexible: false, unknown_tags: 0 }
    }

    /// From here on: compact lengths and tagged sections (KIP-482), or the classic form again.
    pub fn set_flexible(&mut self, flexible: bool) {
        self.flexible = flexible;
    }

    /// How many tagged fields were skipped because this schema does not know them.
    pub fn unknown_tags(&self) -> usize {
        self.unknown_tags
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.left.len()
    }

    fn at(&self) -> usize {
        self.length - self.left.len()
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let truncated = DecodeError::Truncated { at: self.at(), needed: n, left: self.left.len() };
        let (head, tail) = self.left.split_at_checked(n).ok_or(truncated)?;
        self.left = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let truncated = DecodeError::Truncated { at: self.at(), needed: N, left: self.left.len() };
        let (head, tail) = self.left.split_first_chunk::<N>().ok_or(truncated)?;
        self.left = tail;
        Ok(*head)
    }

    pub fn i8(&mut self) -> Result<i8> {
        self.array().map(i8::from_be_bytes)
    }

    pub fn i16(&mut self) -> Result<i16> {
        self.array().map(i16::from_be_bytes)
    }

    pub fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    /// An unsigned varint (`ByteUtils.readUnsignedVarint`): seven bits a byte, least significant first.
    pub fn varint(&mut self) -> Result<u32> {
        let at = self.at();
        let mut value = 0u32;
        for shift in (0..35).step_by(7) {
            let [byte] = self.array()?;
            let bits = u32::from(byte & 0x7f);
            if shift == 28 && bits > 0xf {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::Varint { at })
    }

    /// A length prefix: -1 or compact 0 is `None`. `classic` reads the prefix of the classic form.
    fn length(&mut self, classic: fn(&mut Self) -> Result<i64>) -> Result<Option<usize>> {
        let at = self.at();
        let length = if self.flexible { i64::from(self.varint()?) - 1 } else { classic(self)? };
        match length {
            -1 => Ok(None),
            _ => usize::try_from(length).map(Some).map_err(|_| DecodeError::Length { at, length }),
        }
    }

    fn not_null<T>(&self, value: Option<T>) -> Result<T> {
        value.ok_or(DecodeError::Length { at: self.at(), length: -1 })
    }

    /// The bytes of a nullable string, not yet checked for UTF-8.
    pub fn nullable_str(&mut self) -> Result<Option<&'a [u8]>> {
        let length = self.length(|r| r.i16().map(i64::from))?;
        length.map(|n| self.take(n)).transpose()
    }

    /// The bytes of a string, not yet checked for UTF-8.
    pub fn str(&mut self) -> Result<&'a [u8]> {
        let bytes = self.nullable_str()?;
        self.not_null(bytes)
    }

    fn nullable_bytes(&mut self) -> Result<Option<&'a [u8]>> {
        let length = self.length(|r| r.i32().map(i64::from))?;
        length.map(|n| self.take(n)).transpose()
    }

    /// A nullable array whose elements are read by `element` and take at least `min` bytes each.
    pub fn nullable_array<T>(
        &mut self,
        min: usize,
        mut element: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Option<Vec<T>>> {
        let Some(count) = self.length(|r| r.i32().map(i64::from))? else { return Ok(None) };
        let needed = count.saturating_mul(min.max(1));
        if needed > self.remaining() {
            return Err(DecodeError::Truncated { at: self.at(), needed, left: self.remaining() });
        }
        let mut elements = Vec::with_capacity(count);
        for _ in 0..count {
            elements.push(element(self)?);
        }
        Ok(Some(elements))
    }

    /// An array that is never null; see [`Reader::nullable_array`].
    pub fn array_of<T>(&mut self, min: usize, element: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let elements = self.nullable_array(min, element)?;
        self.not_null(elements)
    }

    /// The tagged section that ends every struct of a flexible version; nothing in the classic form.
    ///
    /// `known` gets each tag with a reader over exactly its bytes and says whether it knew the tag.
    pub fn tags(&mut self, mut known: impl FnMut(u32, &mut Reader<'a>) -> Result<bool>) -> Result<()> {
        if !self.flexible {
            return Ok(());
        }
        for _ in 0..self.varint()? {
            let tag = self.varint()?;
            let size = self.varint()?;
            let mut field = Reader::new(self.take(size as usize)?);
            field.flexible = true;
            if known(tag, &mut field)? {
                self.unknown_tags += field.unknown_tags;
                if field.remaining() > 0 {
                    return Err(DecodeError::TagSize { tag, left: field.remaining() });
                }
            } else {
                self.unknown_tags += 1;
            }
        }
        Ok(())
    }
}

/// A type that stands in a schema.
pub trait Field: Sized {
    /// The fewest bytes that one value takes in a flexible version: bounds what an array's count may claim.
    const MIN: usize;
    fn read(r: &mut Reader<'_>) -> Result<Self>;
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Field for $t {
            const MIN: usize = size_of::<$t>();
            fn read(r: &mut Reader<'_>) -> Result<Self> {
                r.array().map(<$t>::from_be_bytes)
            }
        }
    )*};
}
numbers!(i8 i16 u16 i32 i64);

/// -1 is Kafka's "none" for epochs, timestamps and offsets; every optional number of these schemas has it as default.
impl Field for Option<i32> {
    const MIN: usize = 4;
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        i32::read(r).map(|n| (n != -1).then_some(n))
    }
}

/// As for `Option<i32>`: -1 is none.
impl Field for Option<i64> {
    const MIN: usize = 8;
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        i64::read(r).map(|n| (n != -1).then_some(n))
    }
}

/// 16 bytes, big endian.
impl Field for Uuid {
    const MIN: usize = 16;
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        r.array().map(Uuid::from_bytes)
    }
}

/// The zero uuid is none (`Uuid.ZERO_UUID`).
impl Field for Option<Uuid> {
    const MIN: usize = 16;
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        Uuid::read(r).map(|id| (!id.is_nil()).then_some(id))
    }
}

impl Field for Name {
    const MIN: usize = 1;
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        r.str().map(name)
    }
}

impl Field for Option<Name> {
    const MIN: usize = 1;
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        r.nullable_str().map(|bytes| bytes.map(name))
    }
}

/// Checking first is several times faster for text that is UTF-8 after all than repairing it at once.
fn name(bytes: &[u8]) -> Name {
    str::from_utf8(bytes).map_or_else(|_| Name::from_bytes(bytes), Name::new)
}

/// Bytes that stay bytes: they belong to another protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Bytes(pub Vec<u8>);

impl Field for Bytes {
    const MIN: usize = 1;
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        let bytes = r.nullable_bytes()?;
        r.not_null(bytes).map(|bytes| Self(bytes.to_vec()))
    }
}

impl Field for Option<Bytes> {
    const MIN: usize = 1;
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        r.nullable_bytes().map(|bytes| bytes.map(|bytes| Bytes(bytes.to_vec())))
    }
}

impl<T: Field> Field for Vec<T> {
    const MIN: usize = 1;
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        r.array_of(T::MIN, T::read)
    }
}

impl<T: Field> Field for Option<Vec<T>> {
    const MIN: usize = 1;
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        r.nullable_array(T::MIN, T::read)
    }
}

/// Declares a struct of a flexible schema and reads it: fields in wire order, then the tagged section.
///
/// A tagged field gives its tag and the value it has when the tag is absent.
macro_rules! message {
    ($(#[$doc:meta])* pub struct $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $ty:ty,)*
        $([$($(#[$tag_doc:meta])* $tag:literal $tagged:ident: $tag_ty:ty = $default:expr,)*])?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $ty,)*
            $($($(#[$tag_doc])* pub $tagged: $tag_ty,)*)?
        }

        impl $crate::kafka::records::reader::Field for $name {
            const MIN: usize = 1 $(+ <$ty as $crate::kafka::records::reader::Field>::MIN)*;

            fn read(
                r: &mut $crate::kafka::records::reader::Reader<'_>,
            ) -> Result<Self, $crate::kafka::records::DecodeError> {
                use $crate::kafka::records::reader::Field;
                $(let $field = <$ty as Field>::read(r)?;)*
                $($(let mut $tagged: $tag_ty = $default;)*)?
                r.tags(|tag, _field| match tag {
                    $($($tag => {
                        $tagged = <$tag_ty as Field>::read(_field)?;
                        Ok(true)
                    })*)?
                    _ => Ok(false),
                })?;
                Ok(Self { $($field,)* $($($tagged,)*)? })
            }
        }
    };
}
pub(super) use message;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_those_of_java() {
        let read = |bytes: &[u8]| Reader::new(bytes).varint();
        assert_eq!(read(&[0]), Ok(0));
        assert_eq!(read(&[0xac, 0x02]), Ok(300));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Ok(u32::MAX));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x1f]), Err(DecodeError::Varint { at: 0 }));
        assert_eq!(read(&[0x80; 6]), Err(DecodeError::Varint { at: 0 }));
        assert!(matches!(read(&[0x80]), Err(DecodeError::Truncated { .. })));
    }

    #[test]
    fn a_claimed_length_is_checked_before_it_is_reserved() {
        let claims_two_billion = [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1];
        let read = Vec::<i32>::read(&mut Reader::new(&claims_two_billion));
        assert!(matches!(read, Err(DecodeError::Truncated { .. })), "{read:?}");
        let read = Bytes::read(&mut Reader::new(&claims_two_billion));
        assert!(matches!(read, Err(DecodeError::Truncated { .. })), "{read:?}");
        let read = Name::read(&mut Reader::new(&[0xff, 0xfe]));
        assert_eq!(read, Err(DecodeError::Length { at: 0, length: -2 }));
        let read = Name::read(&mut Reader::new(&[0xff, 0xff]));
        assert!(matches!(read, Err(DecodeError::Length { length: -1, .. })), "{read:?}");
    }

    #[test]
    fn a_known_tag_must_fill_its_size() {
        let mut r = Reader::new(&[1, 0, 3, 0, 1, 9]);
        r.set_flexible(true);
        let read = r.tags(|_, field| field.i16().map(|_| true));
        assert_eq!(read, Err(DecodeError::TagSize { tag: 0, left: 1 }));
    }
}
