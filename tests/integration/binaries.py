"""Programs that keep their binaries: built from source in one run, created from the binary in the next."""

from harness import main

SPLIT = {"POLICY": "static:0.4,0.6", "WAIT_ANALYSIS": "1", "VERIFY": "1"}
KERNELS = ("scale", "scale_and_add_group")  # the second has to be rewritten


def folder(bench, name, header=None):
    path = bench.tmp / name
    path.mkdir()
    if header:
        (path / "scale.h").write_text(header)
    return path


def run(bench, where, home="0.0", options=None, native=False, more=(), **how):
    command = bench.sample("binary_cache", "--device", home, *more)
    if native:
        return bench.native(command, cwd=where, dump=True, **how)
    return bench.run(command, "preload", {**SPLIT, **(options or {})}, cwd=where, dump=True, **how)


def require_split(result):
    for name in KERNELS:
        stats = result.kernel(name)
        result.require(stats["split_launches"] == stats["launches"] == 2, f"{name} not split: {stats['reason']}")


def require_unsplit(result, reason):
    for name in KERNELS:
        stats = result.kernel(name)
        result.require(stats["split_launches"] == 0, f"{name} was split")
        result.require(reason in stats["reason"], f"the reason is {stats['reason']!r}")


def second_run_splits(bench):
    """Also in separate memories, and when the first run did not wait for any analysis."""
    for home in ("0.0", "0.1"):
        native_folder = folder(bench, f"native-{home}")
        native = [run(bench, native_folder, home, native=True) for _ in range(2)]
        for impatient in (False, True):
            where = folder(bench, f"split-{home}-{impatient}")
            cache = {"CACHE_DIR": str(where / "cache")}
            first = run(bench, where, home, {**cache, "WAIT_ANALYSIS": "0" if impatient else "1"})
            first.require_same_as(native[0])
            for memories in ("0", "1"):
                second = run(bench, where, home, {**cache, "SEPARATE_NODES": memories})
                second.require_same_as(native[1])
                require_split(second)


def includes_stay_what_they_were(bench):
    """The binary was made from an old header; so are the programs of the other devices."""
    where = folder(bench, "with-header", "#define SCALE 5\n")
    first = run(bench, where, options={"WAIT_ANALYSIS": "0"})
    first.require_success()
    (where / "scale.h").write_text("#define SCALE 7\n")
    native = run(bench, where, native=True)
    native.require(native.dump == first.dump, "natively the binary follows its header: nothing is tested here")
    for _ in range(2):
        second = run(bench, where)
        second.require_same_as(native)
        require_split(second)
        (where / "scale.h").unlink(missing_ok=True)


def filled_before_libsplit_came(bench):
    """PoCL's binaries hold their program's IR, which its other devices take: split in one memory and several."""
    for home in ("0.0", "0.1"):
        where = folder(bench, f"filled-{home}")
        run(bench, where, home, native=True).require_success()
        native = run(bench, where, home, native=True)
        for memories in ("0", "1"):
            result = run(bench, where, home, {"SEPARATE_NODES": memories})
            result.require_same_as(native)
            require_split(result)


def unknown_binary(bench):
    """The IR in the binary can't be read; the driver has no need of it."""
    where = folder(bench, "unknown")
    run(bench, where, native=True).require_success()
    run(bench, where, native=True)  # the kernels are compiled, and in the driver's cache
    binary = where / "binary_cache.bin"
    bytes_ = bytearray(binary.read_bytes())
    ir = bytes_.index(b"BC\xc0\xde")
    bytes_[ir + 8:ir + 64] = bytes(56)
    binary.write_bytes(bytes_)
    native = run(bench, where, native=True)
    native.require_success()
    for options in ({}, {"POLICY": "auto"}):
        result = run(bench, where, options=options)
        result.require_one_complaint("LIBSPLIT_REBUILD=1", "empty")
        result.require_same_as(native, stderr=False)
        require_unsplit(result, "the bitcode can't be read")
    run(bench, where, options={"LOG": "error"}).require_same_as(native)


def rebuild(bench):
    """LIBSPLIT_REBUILD=1: an unknown binary is refused once, the program builds from source and is split; a
    program that can't is told what drivers tell."""
    where = folder(bench, "rebuild")
    run(bench, where, native=True).require_success()
    again = ("--variant", "rebuild")
    strict = run(bench, where, options={"REBUILD": "1"})
    strict.require(strict.code == 1 and "binary status: CL_INVALID_BINARY" in strict.stdout, "not refused")
    refusing = run(bench, where, options={"REBUILD": "1"}, more=again)
    refusing.require_success()
    refusing.require("binary status: CL_INVALID_BINARY" in refusing.stdout, "not refused")
    require_split(refusing)
    native = run(bench, where, native=True, more=again)
    known = run(bench, where, options={"REBUILD": "1"}, more=again)
    known.require_same_as(native)  # created from the binary
    require_split(known)
    run(bench, where, options={"REBUILD": "1", "POLICY": "off"}).require_same_as(native)


def damaged_memory(bench):
    """What is kept of a binary is damaged: one complaint, and the binary is taken for one that nobody knows."""
    where = folder(bench, "damaged")
    run(bench, where).require_success()
    native = run(bench, where, native=True)
    (kept,) = (bench.tmp / "cache").glob("*.origin")
    whole = kept.read_bytes()
    for damaged in (b"", whole[:20], whole[:-7], whole.replace(b"SCALE", b"SCALD"), bytes(len(whole))):
        kept.write_bytes(damaged)
        result = run(bench, where)
        result.require_one_complaint("damaged", str(kept))
        result.require_same_as(native, stderr=False)
    kept.write_bytes(whole)
    require_split(run(bench, where))


def damaged_binary(bench):
    """The application's own file is damaged: the same error as natively."""
    where = folder(bench, "truncated")
    run(bench, where).require_success()
    binary = where / "binary_cache.bin"
    whole = binary.read_bytes()
    for damaged in (b"nonsense", whole[:16], bytes(len(whole))):
        binary.write_bytes(damaged)
        native = run(bench, where, native=True)
        native.require(native.code == 1, f"natively it ends with {native.code}: nothing is tested here")
        run(bench, where).require_same_as(native)


def cache_is_bounded(bench):
    """Old entries go, files of others stay."""
    where = folder(bench, "bounded")
    cache = bench.tmp / "cache"
    cache.mkdir()
    (cache / "notes.txt").write_text("not libsplit's")
    for i in range(5000):
        (cache / f"{i:032x}.origin").write_text("old")
    run(bench, where).require_success()
    left = len(list(cache.iterdir()))
    result = run(bench, where)
    result.require(left < 4200, f"{left} files are left")
    result.require((cache / "notes.txt").exists(), "another's file was deleted")
    require_split(result)


if __name__ == "__main__":
    main({test.__name__: test for test in (
        second_run_splits, includes_stay_what_they_were, filled_before_libsplit_came, unknown_binary, rebuild, damaged_memory,
        damaged_binary, cache_is_bounded)})
