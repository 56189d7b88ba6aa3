//! Texts for trying a parser of nginx's grammar: the same ones every time.

#![allow(dead_code, unreachable_pub)] // every test takes what it needs

/// A small generator of numbers (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a [u8]]) -> &'a [u8] {
        from[self.below(from.len())]
    }
}

/// What the grammar turns on.
const PIECES: &[&[u8]] = &[
    b"a", b"b c", b" ", b"\n", b"\t", b"\r\n", b";", b";\n", b"{", b"}", b"\"", b"'", b"\\", b"$", b"${", b"#",
    b"# c\n", b"(", b")", b"{3}", b"{2,}", b"\"q\" ", b"'q' ", b"\\\"", b"\\\\", b"\0", b"\xff", b"x y;\n", b"types",
    b"=", b"~",
];

/// Directives and beginnings of blocks.
const LINES: &[&[u8]] = &[
    b"listen 80",
    b"location / {\n",
    b"server {\n",
    b"map $a $b {\n",
    b"if ($a) {",
    b"content_by_lua_block {",
    b"--",
    b"[[",
    b"]]",
    b"{{ x }}",
    b"server_name a\n",
    b"    ",
    b"http {\n",
    b"\xef\xbb\xbf",
    b"upstream u {\n",
    b"return 204;\n",
    b"}\n",
    b"    }\n",
];

/// Up to `most` pieces in a row.
pub fn pieces(random: &mut Random, most: usize) -> Vec<u8> {
    let count = random.below(most) + 1;
    (0..count)
        .flat_map(|_| if random.below(4) == 0 { random.pick(LINES) } else { random.pick(PIECES) })
        .copied()
        .collect()
}

/// A row of pieces that are neither directives nor blocks, for the inside of a block that takes any words.
pub fn entries(random: &mut Random, most: usize) -> Vec<u8> {
    let count = random.below(most) + 1;
    (0..count).flat_map(|_| random.pick(PIECES)).copied().collect()
}

/// A text with one to three small faults.
pub fn damage(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..=random.below(3) {
        let special: Vec<usize> = (0..text.len()).filter(|&at| b";{}\"'\\#$\n".contains(&text[at])).collect();
        if special.is_empty() {
            break;
        }
        let at = special[random.below(special.len())];
        match random.below(5) {
            0 | 1 => drop(text.remove(at)),
            2 => drop(text.splice(at..at, random.pick(PIECES).iter().copied())),
            3 => drop(text.splice(at..=at, random.pick(PIECES).iter().copied())),
            _ => {
                let line = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
                text.drain(line..at);
            }
        }
    }
    text
}
