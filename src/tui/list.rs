//! A list with a selection: which rows are shown, in which order, and which is selected. A selection that the person made
//! is an identity, never an index, so it survives refreshes and sorting; until then it is the first row.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use super::filter::Filter;

/// How long the order holds after the cursor has moved.
const HOLD: Duration = Duration::from_secs(1);

/// Rows with the identity `K`; each knows its place in the view.
#[derive(Debug, Clone)]
pub struct List<K> {
    rows: Vec<(K, usize)>,
    selected: Option<K>,
    /// Where the selected row is, or was when it vanished.
    index: usize,
    /// First row on screen.
    top: usize,
    /// Rows on screen.
    height: usize,
    moved_at: Option<Duration>,
    /// The person has chosen no row: the first one is selected, whatever it is.
    first: bool,
    pub filter: Filter,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            selected: None,
            index: 0,
            top: 0,
            height: 1,
            moved_at: None,
            first: true,
            filter: Filter::default(),
        }
    }
}

impl<K: Ord + Clone> List<K> {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Identity and place in the view of the selected row.
    pub fn selected(&self) -> Option<&(K, usize)> {
        self.rows.get(self.index)
    }

    /// The rows on screen: identity, place in the view, whether it is selected.
    pub fn visible(&self) -> impl Iterator<Item = (&K, usize, bool)> {
        let window = self.window();
        let rows = self.rows.get(window.clone()).unwrap_or_default();
        rows.iter().zip(window).map(|((key, place), index)| (key, *place, index == self.index))
    }

    fn window(&self) -> Range<usize> {
        self.top..(self.top + self.height).min(self.rows.len()).max(self.top)
    }

    /// Whether the order is to hold: the cursor has just moved.
    pub fn holds(&self, now: Duration) -> bool {
        self.moved_at.is_some_and(|moved| now < moved + HOLD)
    }

    /// Takes new rows, in their order; `hold`: known rows keep the order that they have on screen.
    pub fn replace(&mut self, sorted: Vec<(K, usize)>, hold: bool) {
        if hold && !self.rows.is_empty() {
            let mut places: BTreeMap<&K, usize> = sorted.iter().map(|(key, place)| (key, *place)).collect();
            let kept = std::mem::take(&mut self.rows);
            let kept = kept.into_iter().filter_map(|(key, _)| places.remove(&key).map(|place| (key, place)));
            let mut rows: Vec<(K, usize)> = kept.collect();
            rows.extend(sorted.iter().filter(|(key, _)| places.contains_key(key)).cloned());
            self.rows = rows;
        } else {
            self.rows = sorted;
        }
        let found = self.selected.as_ref().and_then(|selected| self.rows.iter().position(|(key, _)| key == selected));
        self.select(if self.first { 0 } else { found.unwrap_or(self.index) });
    }

    /// The person is concerned with the row that is selected: it stays so.
    pub fn keep(&mut self) {
        self.first = false;
    }

    /// Selects the row of that identity, or the first.
    pub fn select_key(&mut self, key: &K) {
        self.first = false;
        self.select(self.rows.iter().position(|(known, _)| known == key).unwrap_or(0));
    }

    /// Moves the cursor by so many rows.
    pub fn step(&mut self, by: isize, now: Duration) {
        self.moved_at = Some(now);
        self.first = false;
        self.select(self.index.saturating_add_signed(by));
    }

    pub fn page(&mut self, by: isize, now: Duration) {
        let rows = isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(1);
        self.step(by * rows, now);
    }

    /// To the first or the last row.
    pub fn end(&mut self, last: bool, now: Duration) {
        self.moved_at = Some(now);
        self.first = !last;
        self.select(if last { usize::MAX } else { 0 });
    }

    /// Ends the hold: the person asked for another order.
    pub fn release(&mut self) {
        self.moved_at = None;
    }

    /// Says how many rows there is room for.
    pub fn fit(&mut self, height: usize) {
        self.height = height.max(1);
        self.scroll();
    }

    fn select(&mut self, index: usize) {
        self.index = index.min(self.rows.len().saturating_sub(1));
        if let Some((key, _)) = self.rows.get(self.index) {
            self.selected = Some(key.clone());
        }
        self.scroll();
    }

    /// Keeps the selected row on screen, and the screen full.
    fn scroll(&mut self) {
        let lowest = (self.index + 1).saturating_sub(self.height);
        self.top = self.top.clamp(lowest, self.index.max(lowest));
        self.top = self.top.min(self.rows.len().saturating_sub(self.height));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const T: Duration = Duration::ZERO;

    fn rows(keys: &str) -> Vec<(char, usize)> {
        keys.chars().enumerate().map(|(place, key)| (key, place)).collect()
    }

    fn shown(list: &List<char>) -> String {
        list.rows.iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn the_selection_is_an_identity() {
        let mut list = List::default();
        list.replace(rows("abc"), false);
        list.step(1, T);
        list.replace(rows("xcab"), false);
        assert_eq!(list.selected(), Some(&('b', 3)));
        list.replace(rows("xca"), false);
        assert_eq!(list.selected().map(|row| row.0), Some('a'), "the row that took its place");
        list.replace(rows(""), false);
        assert_eq!(list.selected(), None);
        list.replace(rows("xca"), false);
        assert_eq!(list.selected().map(|row| row.0), Some('a'), "it comes back");
    }

    #[test]
    fn until_a_row_is_chosen_the_first_is_selected() {
        let mut list = List::default();
        list.replace(rows("abc"), false);
        list.replace(rows("cab"), false);
        assert_eq!(list.selected(), Some(&('c', 0)));
        list.keep();
        list.replace(rows("abc"), false);
        assert_eq!(list.selected(), Some(&('c', 2)), "it was opened");
        list.end(false, T);
        list.replace(rows("bca"), false);
        assert_eq!(list.selected(), Some(&('b', 0)), "back to the first");
    }

    #[test]
    fn the_order_holds_while_the_cursor_moves() {
        let mut list = List::default();
        list.replace(rows("abcd"), false);
        list.step(1, T);
        assert!(list.holds(Duration::from_millis(999)) && !list.holds(Duration::from_secs(1)));
        list.replace(rows("edcb"), true);
        assert_eq!(shown(&list), "bcde");
        assert_eq!(list.selected(), Some(&('b', 3)));
        list.replace(rows("edcb"), false);
        assert_eq!(shown(&list), "edcb");
    }

    proptest! {
        #[test]
        fn the_selected_row_is_always_on_screen(
            steps in proptest::collection::vec((-50isize..50, 0usize..40, 0usize..30), 1..20)
        ) {
            let mut list = List::default();
            for (by, len, height) in steps {
                list.replace((0..len).map(|key| (key, key)).collect(), by % 2 == 0);
                list.fit(height);
                list.step(by, T);
                let visible: Vec<_> = list.visible().collect();
                prop_assert_eq!(visible.iter().filter(|row| row.2).count(), usize::from(len > 0));
                prop_assert_eq!(visible.len(), height.max(1).min(len));
            }
        }
    }
}
