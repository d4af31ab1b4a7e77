//! The filter of a list: smart case, `!` negates.

/// What the person typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub text: String,
}

impl Filter {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether a row with one of these texts is to be shown. Lower case finds both cases.
    pub fn matches<S: AsRef<str>>(&self, texts: &[S]) -> bool {
        let (wanted, needle) = match self.text.strip_prefix('!') {
            Some(rest) => (false, rest),
            None => (true, self.text.as_str()),
        };
        if needle.is_empty() {
            return true;
        }
        let found = if needle.chars().any(char::is_uppercase) {
            texts.iter().any(|text| text.as_ref().contains(needle))
        } else {
            texts.iter().any(|text| contains_ignoring_case(text.as_ref(), needle))
        };
        found == wanted
    }
}

/// `needle` is in lower case.
fn contains_ignoring_case(text: &str, needle: &str) -> bool {
    if text.is_ascii() && needle.is_ascii() {
        let needle = needle.as_bytes();
        return text.as_bytes().windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle));
    }
    text.to_lowercase().contains(needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smart_case_and_negation() {
        let cases = [
            ("bill", "Billing", true),
            ("Bill", "billing", false),
            ("Bill", "Billing", true),
            ("!bill", "Billing", false),
            ("!bill", "audit", true),
            ("", "x", true),
            ("!", "x", true),
            ("组", "a组b", true),
            ("é", "CAFÉ", true),
            ("longer", "lon", false),
        ];
        for (filter, text, shown) in cases {
            let filter = Filter { text: filter.to_owned() };
            assert_eq!(filter.matches(&[text]), shown, "{filter:?} on {text}");
        }
    }
}
