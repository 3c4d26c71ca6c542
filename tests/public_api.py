"""Writes the public API of a crate as text: one line an item, from the JSON that rustdoc makes.

    public_api.py FOLDER CRATE    FOLDER holds CRATE.json, and the JSON of crates that it exports items of

An item of another crate that is exported by name is written out under the name that users see. An item
with several names is written out under the shortest one; the others refer to it.
"""

import json
import pathlib
import sys

# Traits that the compiler derives beside those that were asked for.
UNASKED = ("StructuralPartialEq", "$crate::marker::StructuralPartialEq")


class Crate:
    def __init__(self, folder, name):
        text = (folder / f"{name}.json").read_text()
        document = json.loads(text)
        self.name = name
        self.root = document["root"]
        self.index = document["index"]
        self.paths = document["paths"]
        self.ids = {("::".join(it["path"]), it["kind"]): id for id, it in self.paths.items() if it["crate_id"] == 0}

    def item(self, id):
        return self.index.get(str(id))


class Api:
    def __init__(self, folder):
        self.folder = folder
        self.crates = {}
        self.named = {}
        self.lines = []

    def crate(self, name):
        """A crate whose JSON is there; None for all others."""
        if name not in self.crates:
            there = (self.folder / f"{name}.json").exists()
            self.crates[name] = Crate(self.folder, name) if there else None
        return self.crates[name]

    def of(self, name):
        crate = self.crate(name)
        modules = [(crate, crate.item(crate.root), name)]
        # Modules come after all that is above them, so that the shortest name is found first.
        while modules:
            crate, module, path = modules.pop(0)
            self.add(path, f"pub mod {path}")
            for id in module["inner"]["module"]["items"]:
                modules.extend(self.exported(crate, id, path))
        return [line for _, line in sorted(self.lines)]

    def add(self, place, line):
        """A line, in the order of what it tells about."""
        self.lines.append((place, line))

    def exported(self, crate, id, path, name=None):
        """Writes an item of a module; gives the modules that it is or exports."""
        item = crate.item(id)
        if item is None:
            return
        kind, inner = next(iter(item["inner"].items()))
        if kind == "use":
            yield from self.used(crate, inner, path)
            return
        if kind == "impl":
            return
        place = f"{path}::{name or item['name']}"
        known = self.named.setdefault((crate.name, str(id)), place)
        if known != place:
            self.add(place, f"pub use {place} = {known}")
        elif kind == "module":
            yield crate, item, place
        else:
            self.write(crate, item, kind, inner, place)

    def used(self, crate, use, path):
        """What `pub use` names, in this crate or in another one."""
        target, id = crate, use["id"]
        if crate.item(id) is None:
            there = crate.paths.get(str(id))
            target = there and self.crate(there["path"][0])
            id = target and (
                target.root if len(there["path"]) == 1 else target.ids.get(("::".join(there["path"]), there["kind"]))
            )
        if target is None or id is None:
            self.add(f"{path}::{use['name']}", f"pub use {path}::{use['name']} = {use['source']}")
        elif use["is_glob"]:
            for inner in target.item(id)["inner"]["module"]["items"]:
                yield from self.exported(target, inner, path)
        else:
            yield from self.exported(target, id, path, use["name"])

    def write(self, crate, item, kind, inner, place):
        more = " (non_exhaustive)" if "non_exhaustive" in json.dumps(item["attrs"]) else ""
        if kind == "function":
            self.add(place, function(item, inner, place))
        elif kind in ("struct", "union"):
            self.add(place, f"pub {kind} {place}{parameters(inner['generics'])}{more}")
            self.fields(crate, inner["kind"], place)
        elif kind == "enum":
            self.add(place, f"pub enum {place}{parameters(inner['generics'])}{more}")
            for id in inner["variants"]:
                variant = crate.item(id)
                self.add(f"{place}::{variant['name']}", f"pub variant {place}::{variant['name']}")
                self.fields(crate, variant["inner"]["variant"]["kind"], f"{place}::{variant['name']}")
        elif kind == "trait":
            bounds = f": {joined(inner['bounds'])}" if inner["bounds"] else ""
            self.add(place, f"pub trait {place}{parameters(inner['generics'])}{bounds}")
            self.associated(crate, inner["items"], place)
        elif kind in ("constant", "static"):
            self.add(place, f"pub const {place}: {type_(inner['type'])}")
        elif kind == "type_alias":
            self.add(place, f"pub type {place}{parameters(inner['generics'])} = {type_(inner['type'])}")
        else:
            self.add(place, f"pub {kind} {place}")
        if isinstance(inner, dict):
            self.traits(crate, inner.get("impls", []), place)

    def fields(self, crate, kind, place):
        if not isinstance(kind, dict):
            return
        ((form, fields),) = kind.items()
        ids = fields if form == "tuple" else fields["fields"]
        for ordinal, id in enumerate(ids):
            field = crate.item(id) if id is not None else None
            if field is not None:
                name = ordinal if form == "tuple" else field["name"]
                self.add(f"{place}::{name}", f"pub field {place}::{name}: {type_(field['inner']['struct_field'])}")

    def traits(self, crate, ids, place):
        """The items of a type's own, and the traits that it implements."""
        traits = []
        for id in ids:
            inner = crate.item(id)["inner"]["impl"]
            if inner["is_synthetic"] or inner["blanket_impl"] is not None:
                continue
            if inner["trait"] is None:
                self.associated(crate, inner["items"], place)
            elif inner["trait"]["path"] not in UNASKED:
                traits.append(path_(inner["trait"]))
        if traits:
            self.add(place, f"impl {place}: {', '.join(sorted(traits))}")

    def associated(self, crate, ids, place):
        for id in ids:
            item = crate.item(id)
            if item is None:
                continue
            kind, inner = next(iter(item["inner"].items()))
            name = f"{place}::{item['name']}"
            if kind == "function":
                self.add(name, function(item, inner, name))
            elif kind == "assoc_const":
                self.add(name, f"pub const {name}: {type_(inner['type'])}")
            elif kind == "assoc_type":
                default = f" = {type_(inner['type'])}" if inner["type"] else ""
                self.add(name, f"pub type {name}{default}")


def function(item, inner, place):
    header = inner["header"]
    words = [word for word in ("const", "async", "unsafe") if header[f"is_{word}"]]
    arguments = [
        "self" if name == "self" and type_(of) == "Self"
        else type_(of).replace("Self", "self") if name == "self" and type_(of) in ("&Self", "&mut Self")
        else f"{name}: {type_(of)}"
        for name, of in inner["sig"]["inputs"]
    ]
    output = inner["sig"]["output"]
    result = f" -> {type_(output)}" if output else ""
    provided = " (provided)" if inner["has_body"] and item["visibility"] == "default" else ""
    generics = parameters(inner["generics"])
    return f"{' '.join(['pub', *words, 'fn'])} {place}{generics}({', '.join(arguments)}){result}{where(inner['generics'])}{provided}"


def parameters(generics):
    found = []
    for parameter in generics["params"]:
        ((kind, inner),) = parameter["kind"].items()
        if kind == "lifetime":
            found.append(parameter["name"])
        elif kind == "const":
            found.append(f"const {parameter['name']}: {type_(inner['type'])}")
        elif not inner["is_synthetic"]:
            found.append(parameter["name"] + (f": {joined(inner['bounds'])}" if inner["bounds"] else ""))
    return f"<{', '.join(found)}>" if found else ""


def where(generics):
    found = [
        f"{type_(predicate['bound_predicate']['type'])}: {joined(predicate['bound_predicate']['bounds'])}"
        for predicate in generics["where_predicates"]
        if "bound_predicate" in predicate
    ]
    return f" where {', '.join(found)}" if found else ""


def joined(bounds):
    return " + ".join(bound(it) for it in bounds)


def bound(it):
    ((kind, inner),) = it.items()
    if kind == "trait_bound":
        return ("?" if inner["modifier"] == "maybe" else "") + path_(inner["trait"])
    return inner if kind == "outlives" else f"use<{', '.join(str(name) for name in inner)}>"


def path_(path):
    return path["path"].rsplit("::", 1)[-1] + arguments(path["args"])


def arguments(args):
    if not args:
        return ""
    if "parenthesized" in args:
        inner = args["parenthesized"]
        output = f" -> {type_(inner['output'])}" if inner["output"] else ""
        return f"({', '.join(type_(it) for it in inner['inputs'])}){output}"
    inner = args["angle_bracketed"]
    found = [argument(it) for it in inner["args"]]
    for constraint in inner["constraints"]:
        ((kind, value),) = constraint["binding"].items()
        found.append(
            f"{constraint['name']} = {argument(value)}" if kind == "equality" else f"{constraint['name']}: {joined(value)}"
        )
    return f"<{', '.join(found)}>" if found else ""


def argument(it):
    if it == "infer":
        return "_"
    ((kind, inner),) = it.items()
    return type_(inner) if kind == "type" else inner["expr"] if kind in ("const", "constant") else inner


def type_(of):
    if of == "infer":
        return "_"
    ((kind, inner),) = of.items()
    if kind in ("generic", "primitive"):
        return inner
    if kind == "resolved_path":
        return path_(inner)
    if kind == "borrowed_ref":
        lifetime = f"{inner['lifetime']} " if inner["lifetime"] else ""
        return f"&{lifetime}{'mut ' if inner['is_mutable'] else ''}{type_(inner['type'])}"
    if kind == "raw_pointer":
        return f"*{'mut' if inner['is_mutable'] else 'const'} {type_(inner['type'])}"
    if kind == "tuple":
        return f"({', '.join(type_(it) for it in inner)})"
    if kind == "slice":
        return f"[{type_(inner)}]"
    if kind == "array":
        return f"[{type_(inner['type'])}; {inner['len']}]"
    if kind == "impl_trait":
        return f"impl {joined(inner)}"
    if kind == "dyn_trait":
        found = [path_(it["trait"]) for it in inner["traits"]] + ([inner["lifetime"]] if inner["lifetime"] else [])
        return f"dyn {' + '.join(found)}"
    if kind == "qualified_path":
        base = type_(inner["self_type"])
        trait = inner["trait"]
        return f"<{base} as {path_(trait)}>::{inner['name']}" if trait and trait["path"] else f"{base}::{inner['name']}"
    if kind == "function_pointer":
        output = inner["sig"]["output"]
        given = ", ".join(type_(it) for _, it in inner["sig"]["inputs"])
        return f"fn({given})" + (f" -> {type_(output)}" if output else "")
    raise ValueError(f"a type of the kind {kind}: this script knows another version of rustdoc's JSON")


if __name__ == "__main__":
    print("\n".join(Api(pathlib.Path(sys.argv[1])).of(sys.argv[2])))
