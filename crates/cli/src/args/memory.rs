//! Determines how much memory is available to this process, so that a sort doesn't exhaust it.

use std::fs;
use std::path::Path;

/// The minimum memory for sorting in bytes, even if less is free.
const LEAST: u64 = 64 << 20;

/// Returns the memory for sorting, in bytes. This is half of the free memory of the machine or of
/// this process's control groups, whichever is less. Returns `None` if the system doesn't expose
/// it.
pub(crate) fn for_sorting() -> Option<usize> {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.as_deref().and_then(available);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let groups = groups
        .lines()
        .filter_map(|line| free_in_groups(line, Path::new("/sys/fs/cgroup")));
    let free = machine.into_iter().chain(groups).min()?;
    usize::try_from((free / 2).max(LEAST)).ok()
}

/// Returns the available memory according to `/proc/meminfo`, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let mut lines = meminfo.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

/// Returns the free memory of the control group in a line of `/proc/self/cgroup`. The enclosing
/// groups have limits too, so the tightest limit counts.
fn free_in_groups(line: &str, root: &Path) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    // This field is empty for cgroup v2 and lists the controllers for v1.
    let (root, most, used) = match controllers {
        "" => (root.to_owned(), "memory.max", "memory.current"),
        text if text.split(',').any(|part| part == "memory") => (
            root.join("memory"),
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
        ),
        _ => return None,
    };
    // A group might have no files here, for example because containers see other paths. But the
    // enclosing groups might still have some.
    let group = root.join(path.trim_start_matches('/'));
    let groups = group
        .ancestors()
        .take_while(|ancestor| ancestor.starts_with(&root));
    let number =
        |path: &Path| -> Option<u64> { fs::read_to_string(path).ok()?.trim().parse().ok() };
    groups
        .filter_map(|group| {
            // Groups without a limit have the text `max` instead of a number.
            let most = number(&group.join(most))?;
            Some(most.saturating_sub(number(&group.join(used)).unwrap_or(0)))
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_counts_kibibytes() {
        let text = "MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(available(text), Some(2 << 20));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
        assert_eq!(available("MemAvailable: many kB\n"), None);
    }

    #[test]
    fn the_narrowest_group_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let inner = root.join("user/job");
        fs::create_dir_all(&inner).unwrap();
        let write = |path: &str, text: &str| fs::write(root.join(path), text).unwrap();
        assert_eq!(free_in_groups("0::/user/job", root), None);
        write("user/job/memory.max", "max\n");
        write("user/job/memory.current", "10\n");
        assert_eq!(free_in_groups("0::/user/job", root), None, "unlimited");
        write("user/memory.max", "5000\n");
        write("user/memory.current", "1000\n");
        assert_eq!(free_in_groups("0::/user/job", root), Some(4000));
        write("user/job/memory.max", "300\n");
        assert_eq!(free_in_groups("0::/user/job", root), Some(290));
        // More memory is in use than the limit allows.
        write("user/job/memory.current", "301\n");
        assert_eq!(free_in_groups("0::/user/job", root), Some(0));
        // cgroup v1 has other files, in a folder per controller.
        assert_eq!(free_in_groups("5:cpu,cpuacct:/user", root), None);
        fs::create_dir_all(root.join("memory/user")).unwrap();
        write("memory/user/memory.limit_in_bytes", "700\n");
        write("memory/user/memory.usage_in_bytes", "100\n");
        assert_eq!(free_in_groups("9:memory:/user", root), Some(600));
        assert_eq!(free_in_groups("nonsense", root), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_has_memory() {
        assert!(for_sorting().unwrap() as u64 >= LEAST);
    }
}
