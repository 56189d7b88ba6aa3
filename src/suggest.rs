//! "Did you mean": the known names nearest to one that is not known. A leaf: `build.rs` takes it in too.

/// The known name that `word` most likely stands for, if one is near enough.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(word, known).into_iter().next()
}

/// The known names near `word`, the nearest first, equally near ones by name.
pub fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase();
    let limit = |name: &str| (word.len().max(name.len()) / 3).clamp(1, 3);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .map(|name| (strsim::osa_distance(&word, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= limit(name))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, name)| name).collect()
}

/// "; did you mean `name`?" or nothing: for the end of a message.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_nearest_first_and_far_ones_not_at_all() {
        let known = ["severity", "category", "version", "versions", "since"];
        assert_eq!(nearest("severty", known), Some("severity"));
        assert_eq!(near("verzions", known), ["versions", "version"]);
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("Sicne", known), Some("since"), "swapped letters count once");
        assert_eq!(did_you_mean("x", known), "");
    }
}
