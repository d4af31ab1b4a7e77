//! [`Name`]: text that strangers chose (group ids, topics, client ids, hosts, racks, error texts), safe to print.
//!
//! The raw text is kept for identity, sorting, JSON and requests; every way of *printing* a `Name` goes through
//! [`fmt::Display`] and shows control bytes as visible escapes, so no raw control byte reaches a terminal
//! (the fault of CVE-2021-25743 in another tool).

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text of foreign origin. Cheap to clone. `Ord` and `Eq` are those of the raw UTF-8 text.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

impl Name {
    /// Wraps the raw text unchanged.
    pub fn new(raw: impl AsRef<str>) -> Self {
        Self(Arc::from(raw.as_ref()))
    }

    /// Wraps raw bytes; what is not UTF-8 becomes U+FFFD.
    pub fn from_bytes(raw: &[u8]) -> Self {
        Self::new(String::from_utf8_lossy(raw))
    }

    /// The text as it was received: for identity, requests and JSON, never for a terminal.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// The text with every control, bidi and zero-width character escaped; borrowed when there is none.
    #[must_use]
    pub fn safe(&self) -> Cow<'_, str> {
        safe(&self.0)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Order of Java's `String.compareTo`: by UTF-16 code units, which differs from UTF-8 order above U+D7FF.
    #[must_use]
    pub fn cmp_utf16(&self, other: &Self) -> Ordering {
        cmp_utf16(&self.0, &other.0)
    }
}

/// Order of Java's `String.compareTo` (UTF-16 code units).
#[must_use]
pub fn cmp_utf16(a: &str, b: &str) -> Ordering {
    // UTF-8 order equals code-point order; the two differ only where a surrogate meets U+E000..=U+FFFF.
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let (Some(&x), Some(&y)) = (a.as_bytes().get(common), b.as_bytes().get(common)) else {
        return a.len().cmp(&b.len());
    };
    // Lead bytes 0xEE and 0xEF start U+E000..=U+FFFF, 0xF0.. start the astral planes (surrogates in UTF-16).
    match (x, y) {
        (0xEE..=0xEF, 0xF0..) => Ordering::Greater,
        (0xF0.., 0xEE..=0xEF) => Ordering::Less,
        _ => x.cmp(&y),
    }
}

/// Shows control bytes as visible escapes: `\x1b`, `\n`, `\u{202e}`. Borrowed when nothing had to change.
#[must_use]
pub fn safe(raw: &str) -> Cow<'_, str> {
    if !raw.chars().any(is_unsafe) {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len() + 8);
    for c in raw.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if !is_unsafe(c) => out.push(c),
            c => {
                let code = u32::from(c);
                // Writing to a string cannot fail.
                let _ = if code < 0x100 { write!(out, "\\x{code:02x}") } else { write!(out, "\\u{{{code:x}}}") };
            }
        }
    }
    Cow::Owned(out)
}

/// JSON text with the same characters as JSON escapes (`\u202e`): serde escapes C0 only. Line ends stay; outside of
/// strings there are no others.
#[must_use]
pub fn safe_json(text: &str) -> Cow<'_, str> {
    let unsafe_here = |c: char| c != '\n' && is_unsafe(c);
    if !text.chars().any(unsafe_here) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if unsafe_here(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// C0, DEL, C1, bidi controls, zero width and other invisible formatting characters.
fn is_unsafe(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.safe())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.safe())
    }
}

impl From<&str> for Name {
    fn from(raw: &str) -> Self {
        Self::new(raw)
    }
}

impl From<String> for Name {
    fn from(raw: String) -> Self {
        Self(Arc::from(raw))
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Default for Name {
    fn default() -> Self {
        Self::new("")
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_bytes_become_visible() {
        let name = Name::new("a\x1b[2J\u{9b}\u{202e}\u{200b}\r\n\t\0z");
        assert_eq!(name.to_string(), "a\\x1b[2J\\x9b\\u{202e}\\u{200b}\\r\\n\\t\\x00z");
        assert_eq!(format!("{name:?}"), format!("\"{name}\""));
        assert_eq!(serde_json::to_string(&name).ok(), serde_json::to_string(name.raw()).ok());
    }

    #[test]
    fn plain_names_are_unchanged() {
        for raw in ["data/data-serving:forwarder", "principal@test", "组组组", "e\u{301}", "a b 🦀"] {
            assert_eq!(Name::new(raw).to_string(), raw);
        }
    }

    proptest! {
        #[test]
        fn nothing_unsafe_survives(raw in any::<String>()) {
            let printed = Name::new(&raw).to_string();
            prop_assert!(!printed.chars().any(is_unsafe));
        }

        #[test]
        fn json_stays_the_same_value(raw in any::<String>()) {
            let raw = raw + "\u{9b}\u{202e}\u{e0041}\x1b\n";
            let text = serde_json::to_string_pretty(&[&raw]).unwrap();
            let safe = safe_json(&text);
            prop_assert!(!safe.chars().any(|c| c != '\n' && is_unsafe(c)));
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&safe).unwrap(), [raw]);
        }

        #[test]
        fn utf16_order_is_javas(a in any::<String>(), b in any::<String>()) {
            let units = |s: &str| s.encode_utf16().collect::<Vec<_>>();
            prop_assert_eq!(cmp_utf16(&a, &b), units(&a).cmp(&units(&b)));
        }
    }
}
