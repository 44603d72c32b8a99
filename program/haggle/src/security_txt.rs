//! The contacts for security reports, in the deployed file itself, where explorers find them. It follows the
//! `solana-security-txt` crate's format: names and values between markers, each closed by a zero byte.

macro_rules! security_txt {
    ($($name:ident: $value:literal,)*) => {
        concat!(
            "=======BEGIN SECURITY.TXT V1=======\0",
            $(stringify!($name), "\0", $value, "\0",)*
            "=======END SECURITY.TXT V1=======\0"
        )
    };
}

const TEXT: &str = security_txt! {
    name: "Haggle",
    project_url: "https://github.com/haggle-protocol/haggle",
    contacts: "link:https://github.com/haggle-protocol/haggle/security/advisories/new",
    policy: "https://github.com/haggle-protocol/haggle/blob/main/SECURITY.md",
    source_code: "https://github.com/haggle-protocol/haggle",
};

// No instruction reads it, but the linker must keep it.
#[cfg_attr(
    any(target_os = "solana", target_arch = "bpf"),
    link_section = ".rodata.security_txt"
)]
#[used]
static SECURITY_TXT: [u8; TEXT.len()] = {
    let mut bytes = [0; TEXT.len()];
    bytes.copy_from_slice(TEXT.as_bytes());
    bytes
};

#[cfg(test)]
mod tests {
    use crate::tests::virtual_machine::elf;
    use std::collections::BTreeMap;

    fn place(file: &[u8], text: &str) -> Option<usize> {
        file.windows(text.len())
            .position(|window| window == text.as_bytes())
    }

    #[test]
    fn the_elf_contains_the_security_contacts() {
        let file = elf();
        let begin = "=======BEGIN SECURITY.TXT V1=======\0";
        let start = place(file, begin).expect("it begins") + begin.len();
        let length = place(&file[start..], "=======END SECURITY.TXT V1=======\0").expect("it ends");
        let text = std::str::from_utf8(&file[start..start + length]).expect("it is text");
        let parts: Vec<_> = text.split_terminator('\0').collect();
        assert_eq!(parts.len() % 2, 0, "a name without a value: {parts:?}");
        let fields: BTreeMap<_, _> = parts.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        let project = "https://github.com/haggle-protocol/haggle";
        assert_eq!(fields["name"], "Haggle");
        assert_eq!(fields["project_url"], project);
        assert_eq!(fields["source_code"], project);
        assert_eq!(
            fields["contacts"],
            format!("link:{project}/security/advisories/new")
        );
        assert_eq!(fields["policy"], format!("{project}/blob/main/SECURITY.md"));
        assert_eq!(fields.len(), 5);
    }
}
