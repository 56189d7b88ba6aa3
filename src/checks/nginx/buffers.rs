//! Sizes of buffers that contradict each other.

use foldhash::HashSet;

use crate::catalog::nginx::{Context, values};
use crate::checks::{Check, Cx, Run};
use crate::fix::{Edit, Fix};
use crate::model::{Level, Node, NodeId};
use crate::syntax::tree::Body;

/// Buffers that nginx refuses together.
pub static CHECK: Check = Check { name: "nginx/buffer-sizes", run: Run::Model(report) };

/// A page of memory, the default of sizes, on different machines.
const PAGES: [i64; 2] = [4096, 8192];

fn report(cx: &mut Cx<'_>) {
    for family in ["proxy", "fastcgi", "uwsgi", "scgi"] {
        let names = ["buffers", "buffer_size", "busy_buffers_size", "temp_file_write_size", "max_temp_file_size"]
            .map(|end| format!("{family}_{end}"));
        let mut levels: Vec<Level<'_>> = Vec::new();
        for line in names.iter().flat_map(|name| cx.model.named(name)) {
            // What stands in `http` is judged in the servers.
            let places: Vec<Level<'_>> = match line.context() {
                Context::Http => {
                    line.level().children().filter(|node| node.is("server")).map(Node::inside).take(1).collect()
                }
                Context::Server | Context::Location => vec![line.level()],
                _ => continue,
            };
            levels.extend(places.into_iter().filter(|level| !levels.contains(level)).collect::<Vec<_>>());
        }
        let mut reported = HashSet::default();
        for level in levels {
            judge(cx, family, &names, level, &mut reported);
        }
    }
}

/// The sizes in effect on a level; `None` where one cannot be read.
struct Sizes {
    count: i64,
    each: i64,
    first: i64,
    busy: Option<i64>,
    write: Option<i64>,
    file: Option<i64>,
}

impl Sizes {
    fn of(level: Level<'_>, names: &[String; 5], page: i64) -> Option<Self> {
        let one = |name: &String| match level.value(name) {
            Some(value) => values::size(value, false).map(Some),
            None => Some(None),
        };
        let (count, each) = match level.setting(&names[0]) {
            Some(line) => (values::number(line.value(0)?)?, values::size(line.value(1)?, false)?),
            None => (8, page),
        };
        let first = one(&names[1])?.unwrap_or(page);
        Some(Self { count, each, first, busy: one(&names[2])?, write: one(&names[3])?, file: one(&names[4])? })
    }

    /// The largest of a single buffer.
    fn largest(&self) -> i64 {
        self.first.max(self.each)
    }

    fn busy(&self) -> i64 {
        self.busy.unwrap_or(2 * self.largest())
    }

    /// What nginx refuses, as the index of the directive to name and the words.
    fn fault(&self, family: &str) -> Option<(usize, String)> {
        let largest = self.largest();
        if self.count < 2 {
            return Some((0, format!("`{family}_buffers` needs at least two buffers")));
        }
        if self.busy() < largest {
            return Some((2, format!("`{family}_busy_buffers_size` is below the largest buffer, {}", text(largest))));
        }
        let most = (self.count - 1) * self.each;
        if self.busy() > most {
            let busy = match self.busy {
                Some(busy) => format!("`{family}_busy_buffers_size` {}", text(busy)),
                None => format!(
                    "`{family}_busy_buffers_size`, by default twice the largest buffer and so {},",
                    text(self.busy())
                ),
            };
            return Some((
                if self.busy.is_some() { 2 } else { 1 },
                format!("{busy} is above all of `{family}_buffers` but one, {}", text(most)),
            ));
        }
        if self.write.is_some_and(|write| write < largest) {
            return Some((
                3,
                format!("`{family}_temp_file_write_size` is below the largest buffer, {}", text(largest)),
            ));
        }
        if self.file.is_some_and(|file| file != 0 && file < largest) {
            return Some((4, format!("`{family}_max_temp_file_size` is below the largest buffer, {}", text(largest))));
        }
        None
    }
}

fn text(size: i64) -> String {
    match size {
        size if size % (1 << 20) == 0 => format!("{}m", size >> 20),
        size if size % 1024 == 0 => format!("{}k", size >> 10),
        size => size.to_string(),
    }
}

fn judge(cx: &mut Cx<'_>, family: &str, names: &[String; 5], level: Level<'_>, reported: &mut HashSet<NodeId>) {
    let sizes: Option<Vec<Sizes>> = PAGES.iter().map(|&page| Sizes::of(level, names, page)).collect();
    let Some(sizes) = sizes else { return };
    let faults: Option<Vec<(usize, String)>> = sizes.iter().map(|sizes| sizes.fault(family)).collect();
    let Some((index, words)) = faults.and_then(|faults| faults.into_iter().next()) else { return };
    // The line that decides: the one named, else the nearest of the family.
    let decides = |i: usize| level.setting(&names[i]);
    let Some(line) = decides(index).or_else(|| decides(1)).or_else(|| decides(0)) else { return };
    if !reported.insert(line.id()) {
        return;
    }
    let fix = (index == 1 || index == 2).then(|| raise(level, names, &sizes[0], line)).flatten();
    let report = cx.report(line, line.head(), format!("{words}: nginx refuses the file"));
    if let Some(buffers) = decides(0).filter(|buffers| buffers.id() != line.id()) {
        report.label(buffers.head(), "the buffers");
    }
    // nginx notices when it has read all servers.
    let http = line.ancestors().find(|block| block.is("http"));
    if let Some(Body::Block { close, .. }) = http.map(Node::body) {
        report.label(close, "nginx names this line");
    }
    if let Some(fix) = fix {
        report.fix(fix);
    }
}

/// The number of buffers that is enough, in buffers of the size of the largest; never fewer
/// than are written. `None` where more buffers do not help.
fn raise(level: Level<'_>, names: &[String; 5], sizes: &Sizes, line: Node<'_>) -> Option<Fix> {
    let each = (sizes.largest() as u64).next_power_of_two() as i64;
    let written = level.setting(&names[0]).map_or(2, |_| sizes.count);
    let count = ((sizes.busy() + each - 1) / each + 1).max(2).max(written);
    if (Sizes { count, each, ..*sizes }).fault("").is_some() {
        return None;
    }
    let value = format!("{count} {}", text(each));
    let title = format!("write `{} {value}`", names[0]);
    let change = format!("a request takes up to {} of memory for buffers", text(count * each));
    match level.setting(&names[0]) {
        Some(buffers) => {
            let (first, last) = (buffers.arg(0)?, buffers.arg(1)?);
            let same_file = first.span().file == last.span().file;
            same_file.then(|| Fix::risky(title, vec![Edit::replace(first.span().to(last.span()), value)], change))
        }
        None => {
            let text = super::text::line_after(line, &format!("{} {value};", names[0]));
            Some(Fix::risky(title, vec![Edit::insert_after(line.span(), text)], change))
        }
    }
}
