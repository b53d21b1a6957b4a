"""The architecture: no import upward, none between packages of a layer, no circle."""

import ast
import gc
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Set
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import osbctl
from osbctl.commands.settings import all_rules
from osbctl.platforms import Platform
from tests.case import each
from tools.architecture import BASE, CALLS, LAYERS, packages

PACKAGE = Path(osbctl.__file__).parent

SIDEWAYS_IMPORTS = {
    ("registry", "comparison"): "a refresh does what the platform would do on each change",
    ("conformance", "comparison"): "two answers of one broker that differ: how grave is that",
    ("pages", "views"): "numbers and lists are written in the same words",
    ("reports", "pages"): "the report as a page looks as the catalog's page does",
}
"""Pairs of packages of one layer, each with the reason why the first imports the second."""


def package_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


@cache
def syntax(file: Path) -> list[ast.AST]:
    """The tree of a module and all of its nodes, which no garbage collection walks over."""
    gc.disable()
    found = [*ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    gc.freeze()
    gc.enable()
    return found


def nodes(words: Iterable[str]) -> Iterator[tuple[str, ast.AST]]:
    """The syntax of each module whose text has one of `words`, with the module's path."""
    some = re.compile("|".join(map(re.escape, words)))
    for file in PACKAGE.rglob("*.py"):
        if some.search(file.read_text(encoding="utf-8")):
            name = file.relative_to(PACKAGE).as_posix()
            yield from ((name, node) for node in syntax(file))


def defined(what: str) -> dict[str, set[str]]:
    """The packages and modules of each public `class` or `def`."""
    places = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        for name in re.findall(rf"(?m)^{what} ([A-Za-z]\w*)", file.read_text(encoding="utf-8")):
            places[name].add(file.relative_to(PACKAGE))
    return places


def statements(within: ast.AST, heads: bool = False) -> Iterator[ast.AST]:
    """The statements of a module, at any depth; not their expressions, which are ten times as many.

    `heads`: those that run when it is imported.
    """
    for node in ast.iter_child_nodes(within):
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield node
            if not (heads and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
                yield from statements(node, heads)


@cache
def all_imports() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The imports of each module, and those that run when it is imported."""
    modules = {}
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    every, at_start = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for module, file in modules.items():
        for found, heads in ((every, False), (at_start, True)):
            for node in statements(syntax(file)[0], heads):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("osbctl"):
                    names = {f"{node.module}.{name.name}" for name in node.names}
                    found[module] |= names & modules.keys() or {node.module or ""}
                elif isinstance(node, ast.Import):
                    found[module].update(name.name for name in node.names if name.name.startswith("osbctl"))
    return every, at_start


def imports(heads: bool = False) -> dict[str, set[str]]:
    return all_imports()[heads]


def between() -> list[tuple[str, str]]:
    """Each import from one package to another: the module, and what it imports."""
    every = imports().items()
    return [(module, one) for module, found in every for one in found if package_of(one) != package_of(module)]


def test_no_import_runs_upward_or_sideways() -> None:
    wrong, sideways_used = [], set()
    for module, target in between():
        ours, theirs = package_of(module), package_of(target)
        layer, other = LAYERS.get(ours, 0), LAYERS.get(theirs, 0)
        if (ours, theirs) in SIDEWAYS_IMPORTS:
            sideways_used.add((ours, theirs))
        elif other > layer or other == layer > 0:
            wrong.append(f"{module} -> {target}")
    assert wrong == []
    assert sideways_used == set(SIDEWAYS_IMPORTS), "an exception that nothing needs"


def test_the_base_has_an_order() -> None:
    order = {name: layer for layer, names in enumerate(BASE) for name in names}
    assert set(order) == set(packages()[0])
    wrong = [
        f"{module} -> {target}"
        for module, target in between()
        if (ours := order.get(package_of(module))) is not None
        if order.get(package_of(target), -1 if target == "osbctl" else len(BASE)) >= ours
    ]
    assert wrong == []


def test_imports_are_at_most_12_deep() -> None:
    """As a reader meets them: those at the head of a module, and each module on the way."""
    heads = {module: targets - {module} for module, targets in imports(heads=True).items()}
    depth: dict[str, int] = {}
    for module in TopologicalSorter(heads).static_order():
        depth[module] = 1 + max((depth[target] for target in heads.get(module, ())), default=0)
    assert max(depth.values()) <= 12, max(depth, key=lambda module: depth[module])


def test_loading_a_catalog_takes_no_module_of_the_broker() -> None:
    """It runs in a process of its own, which starts at each reload: the server's modules would double its start."""
    loaded: set[str] = set()
    met = {"osbctl.commands.load_catalog"}
    while met:
        loaded |= met
        met = {target for module in met for target in imports().get(module, ())} - loaded
    assert "osbctl.validation.pipeline" in loaded
    assert {module for module in loaded if package_of(module) == "broker"} == set()


def test_serve_can_be_refused_on_windows() -> None:
    """Where nothing of the server can be imported, a sentence says so, and its help is there."""
    code = """import pathlib, subprocess, sys
before = {*sys.modules}  # the standard library loads what there is: Python 3.15's pathlib needs fcntl
import osbctl.commands.serve
print(*({"resource", "waitress", "fcntl"} & sys.modules.keys() - before))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == []


HIDES_SECRETS = {
    "comparison/values": "old and new values of changes, and where both differ",
    "comparison/collector": "old and new values of changes, which reports show",
    "jsonschemas/secrets": "values to which parameters with secret names refer",
    "jsonschemas/candidates": "values that the old schema accepts and the new one refuses",
    "jsonschemas/sentences": "literals of parameters with secret names, wherever the value stands",
    "jsonschemas/value_generator": "examples have no value of a parameter with a secret name",
    "parameter_table": "tables of parameters in a terminal and on pages",
    "requests": "examples of requests",
    "commands/params": "requests that are printed",
    "commands/connection": "findings that are stored with a registered broker",
    "catalog": "a catalog that is shown as a whole",
    "pages/compare": "texts of pages, which are counted",
    "pages/offerings": "texts of pages, which are counted",
    "pages/render": "texts of pages, which are counted",
    "masking": "lines of sources, for those below",
    "reports/text_report": "lines of sources beside findings",
    "sources/json_reader": "faults of text that has no values yet",
    "sources/places": "such faults, and their lines",
    "client/catalog_client": "error bodies of brokers, which may be any text",
    "validation/rules/metadata": "the rule that finds secrets in metadata",
}
"""The modules that decide what is secret, each with what of it; others quote values in messages."""

_DECISIONS = re.compile(r"redact|secret_name$|secret_path$|mask_|Redactor")


def test_only_listed_modules_decide_what_is_secret() -> None:
    deciding = {
        module.removesuffix(".py").removesuffix("/__init__")
        for module, node in nodes(["osbctl.messages", "osbctl.masking"])
        if isinstance(node, ast.ImportFrom) and node.module in ("osbctl.messages", "osbctl.masking")
        if any(_DECISIONS.search(name.name) for name in node.names)
    }
    assert deciding == set(HIDES_SECRETS)


def test_templates_of_messages_hold_no_values() -> None:
    """A value in a template is not redacted, and its braces are read as places of values."""
    wrong = [
        f"{module}:{node.lineno}"
        for module, node in nodes(["Message("])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message"
        if node.args and isinstance(node.args[0], ast.JoinedStr)
    ]
    assert wrong == []


def test_templates_show_texts_and_not_their_data() -> None:
    """A hint or a sentence may be a string that is redacted when its text is asked for."""
    found = [
        f"{file.name}: {data}"
        for file in (PACKAGE / "pages" / "assets").glob("*.html")
        for data in re.findall(r"\w+\.(?:hint|sentence|quotes)\b", file.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_packages_form_no_circle() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for module, target in between():
        graph[package_of(module)].add(package_of(target))
    list(TopologicalSorter(graph).static_order())


def test_the_modules_of_a_package_form_no_circle() -> None:
    """Imports for types count, too: who has to know each other to be understood is one module."""
    graph = {
        module: {target for target in targets - {module} if package_of(target) == package_of(module)}
        for module, targets in imports().items()
    }
    list(TopologicalSorter(graph).static_order())


TERMINAL = {
    "print", "input", "sys.exit", "sys.argv", "sys.stdout", "sys.stderr", "os.environ", "os.getenv", "os.getcwd",
}  # fmt: skip
PRINTING = "osbctl.commands.output"


@cache
def definitions() -> dict[tuple[str, str], set[str]]:
    """The names that each function and class of `commands` mentions, by module and name; `module.name` for imported ones."""
    found = {}
    for file in (PACKAGE / "commands").glob("*.py"):
        tree, module = syntax(file)[0], f"osbctl.commands.{file.stem}"
        assert isinstance(tree, ast.Module)
        imported = {
            name.asname or name.name: f"{node.module}.{name.name}"
            for node in syntax(file)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                parts = list(ast.walk(node))
                names = {one.id for one in parts if isinstance(one, ast.Name)}
                names |= {ast.unparse(one) for one in parts if isinstance(one, ast.Attribute)}
                own = {one.id for one in parts if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
                own |= {one.arg for one in parts if isinstance(one, ast.arg)}
                found[module, node.name] = {imported.get(name, name) for name in names - own}
    return found


def terminal_uses(starts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], set[str]]:
    """What each definition that these need, directly or through others, does with the terminal or the environment."""
    known, seen, waiting = definitions(), set(), list(starts)
    while waiting:
        if (here := waiting.pop()) in seen or here not in known:
            continue
        seen.add(here)
        waiting += [(here[0], name) for name in known[here]]
        waiting += [(module, name) for module, _, name in (one.rpartition(".") for one in known[here])]
    uses = {one: {name for name in known[one] if name in TERMINAL or name.startswith(PRINTING)} for one in seen}
    return {one: names for one, names in uses.items() if names}


def test_the_work_of_a_command_needs_no_terminal() -> None:
    """What others call of a command, in the editor or in a child process, does not print, exit or read the environment."""
    called = {
        (node.module, name.name)
        for file, node in nodes(["osbctl.commands"])
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("osbctl.commands.")
        if not file.startswith("commands/") and file not in ("__main__.py", "editor/__init__.py")
        for name in node.names
    }
    assert ("osbctl.commands.fix", "compute_fix_edits") in called
    assert terminal_uses({*called, ("osbctl.commands.load_catalog", "load")}) == {}
    assert terminal_uses([("osbctl.commands.fix", "fix")]), "the search finds nothing"


def test_only_what_parses_arguments_imports_typer() -> None:
    """So that the work of a command, and `osbctl validate FILE`, start without it."""
    imported = [(file, node) for file, node in nodes(["typer"]) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {file for file, node in imported if re.search(r"\btyper\b", ast.unparse(node))} == {"commands/app.py"}


OPENED = {
    "write_bytes", "write_text", "touch", "mkdir", "unlink", "rename", "hardlink_to", "symlink_to", "rmdir", "mkdtemp",
    "os.replace", "os.remove", "os.makedirs", "os.fdopen", "os.truncate", "os.ftruncate", "os.O_WRONLY", "os.O_RDWR",
    "os.O_CREAT", "os.mkfifo", "os.removedirs", "shutil.copyfileobj", "FileHandler", "logging.FileHandler",
    "mkstemp", "NamedTemporaryFile", "TemporaryDirectory", "TemporaryFile", "os.symlink", "os.link", "chmod", "os.chmod",
    "shutil.move", "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "shutil.rmtree",
}  # fmt: skip
LAST_WORDS = {name.rpartition(".")[2] for name in OPENED}
WRITERS = {
    "__main__.py": "closed standard streams become /dev/null",
    "broker/listeners.py": "the file of a Unix socket that an earlier process left",
    "commands/output.py": "a closed standard output becomes /dev/null",
    "credentials.py": "the lock of a folder on Windows, a file that goes when it is closed",
    "editor/__init__.py": "the language server's answers, on standard output",
    "files.py": "whole files, by rename",
    "registry/database.py": "an empty database that only its owner may read",
    "registry/__init__.py": "the folder of the database",
    "sources/folder/scaffold.py": "the folders of a new source folder; its files go through files.py",
}
"""Modules that may change the file system themselves, each with its reason."""


def is_opened_for_writing(node: ast.AST) -> bool:
    """True for `open` or `….open` with a mode that writes."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", getattr(node.func, "id", "")) != "open":
        return False
    given = (*node.args, *(word.value for word in node.keywords))
    texts = [one.value for one in given if isinstance(one, ast.Constant)]
    return any(isinstance(text, str) and re.fullmatch("[rwaxbt+]+", text) and set(text) & set("wax+") for text in texts)


def is_replaced_path(node: ast.AST) -> bool:
    """True for `path.replace(target)`; that of a text has two arguments, and others have keywords."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "replace":
        return False
    return len(node.args) == 1 and not node.keywords


def is_imported_writer(node: ast.AST) -> bool:
    """True for `from os import replace` and the like, whose calls have no module before them."""
    if not isinstance(node, ast.ImportFrom):
        return False
    names = {name for one in node.names for name in (one.name, f"{node.module}.{one.name}")}
    return not names.isdisjoint(OPENED)


def writes_files(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and node.attr in LAST_WORDS and {node.attr, ast.unparse(node)} & OPENED:
        return True
    return is_opened_for_writing(node) or is_replaced_path(node) or is_imported_writer(node)


IMPORTED = {f"from {name.partition('.')[0]} import" for name in OPENED if "." in name}


def test_only_listed_modules_write_files() -> None:
    found = {file for file, node in nodes((*OPENED, "open(", "replace(", *IMPORTED)) if writes_files(node)}
    assert found == set(WRITERS)


@each("line", [
    "Path(name).replace(target)",
    "from os import replace",
    "from shutil import rmtree",
    "from os import unlink",
    "from tempfile import mkstemp",
    'open(name, "x")',
])  # fmt: skip
def test_the_search_for_writers_finds(line: str) -> None:
    assert any(map(writes_files, ast.walk(ast.parse(line))))
    assert not any(map(writes_files, ast.walk(ast.parse('text.replace("a", "b"); open(name); replace(data, size=1)'))))


def test_a_public_type_has_a_name_of_its_own() -> None:
    """One name, one type: no two packages define the same public name."""
    assert {name: places for name, places in defined("class").items() if len(places) > 1} == {}


SHARED_NAMES = {
    "main": "the entry points of two processes",
    "render": "the interface of every report format and view",
    "serve": "the command, and the function that it runs",
}
"""Public functions that stand in more than one package, each with its reason."""


def test_a_public_function_has_one_meaning() -> None:
    packages = {name: {place.parts[0] for place in places} for name, places in defined("def").items()}
    assert {name for name, found in packages.items() if len(found) > 1} == set(SHARED_NAMES)


def test_the_architecture_names_packages_and_modules_that_exist() -> None:
    """docs/images/architecture.svg is drawn from it, and docs/contributing/architecture.md walks along it."""
    assert set(LAYERS) <= {name for found in packages().values() for name in found}
    stops = [stop for way in CALLS.values() for stop in way]
    assert [stop for stop in stops if not (PACKAGE / f"{stop}.py").exists()] == []
    text = (PACKAGE.parent / "docs" / "contributing" / "architecture.md").read_text(encoding="utf-8")
    assert [stop for stop in stops if f"`{stop}`" not in text] == []


def test_contributing_names_files_and_functions_that_exist() -> None:
    """A path in backticks, and a function or constant with the file that it is said to be in."""
    root = PACKAGE.parent
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:osbctl|tests|tools|docs|schemas)/[\w/.-]+)`", text)
    absent = [path for path in paths if not (root / path).exists() and not re.search("[A-Z]{4}", path)]
    assert absent == [], "no such file"
    said = re.findall(r"`(\w+)`\s+(?:of|in)\s+`([\w/]+\.py)`", text)
    assert len(said) > 16
    for name, file in said:
        where = root / file if (root / file).exists() else PACKAGE / file
        assert re.search(rf"(?m)^(def |class )?{name}\b", where.read_text("utf-8")), f"{file} has no {name}"


def test_nothing_outside_of_platforms_names_one() -> None:
    """A platform is one place: a fifth is one folder and one line. The record of a rule and prose may name one."""
    members = {platform.name for platform in Platform}
    words = re.compile(rf"({'|'.join(Platform)})(-[a-z-]+)?")
    folders = tuple(f"osbctl.platforms.{platform.replace('-', '_')}" for platform in Platform)

    def is_named_by(node: ast.AST) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and bool(words.fullmatch(node.value))
        if isinstance(node, ast.Import):
            return any(one.name.startswith(folders) for one in node.names)
        if isinstance(node, ast.ImportFrom):
            return (node.module or "").startswith(folders)
        return isinstance(node, ast.Attribute) and node.attr in members

    found = [(f, node) for f, node in nodes((*members, *Platform, *folders)) if not f.startswith("platforms/")]
    records = [(f, node) for f, node in found if isinstance(node, ast.Call) and ast.unparse(node.func) == "Rule"]
    named = Counter(file for file, node in found if is_named_by(node))
    assert named == Counter(file for file, record in records for node in ast.walk(record) if is_named_by(node))


READS_IDS = {
    "commands/params.py": "a request that is no object has another hint than a catalog",
    "sources/folder/brokerpak_variables.py": "Go takes some of the faults that the JSON reader reports",
    "sources/document.py": "a template has another hint than broken YAML",
    "sources/yaml_reader.py": "faults of the keys 0, 1 and so on of one mapping become one",
}
"""Modules that compare ids of rules, each with its reason; that of a platform may know its own."""


def reads_id(every: list[ast.AST], ids: Set[str]) -> bool:
    """Return whether code of these nodes compares with an id of a rule, also by a constant, or with a beginning or end of ids."""
    parts = {part for id_ in ids for part in (f"{id_.partition('-')[0]}-", f"-{id_.rpartition('-')[2]}")}

    def holds(node: ast.AST, texts: Set[str], constants: Set[str] = frozenset()) -> bool:
        return any(
            (isinstance(part, ast.Constant) and part.value in texts)
            or (isinstance(part, ast.Name) and part.id in constants)
            for part in ast.walk(node)
        )

    constants = {
        target.id
        for node in every
        if isinstance(node, ast.Assign) and holds(node.value, ids)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id.isupper()
    }
    compared = [node for node in every if isinstance(node, ast.Compare | ast.match_case)]
    calls = [node for node in every if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    cut = [argument for node in calls if node.func.attr in ("startswith", "endswith") for argument in node.args]
    return any(holds(node, ids, constants) for node in compared) or any(holds(node, ids | parts) for node in cut)


def test_nothing_depends_on_the_id_of_a_rule() -> None:
    """What a rule means, and when it is reported, are fields of its record."""
    ids = set(all_rules())
    found = {file.relative_to(PACKAGE).as_posix() for file in PACKAGE.rglob("*.py") if reads_id(syntax(file), ids)}
    assert {name for name in found if not re.match("platforms/[a-z_]+/", name)} == set(READS_IDS)


@each("line", [
    'finding.rule == "schema-type"',
    'f.rule in ("schema-type", "x")',
    'RULES = {"schema-type": 1}\nf.rule in RULES',
    'f.rule.startswith("schema-")',
    'f.rule.endswith("-crash")',
])  # fmt: skip
def test_the_search_for_ids_finds(line: str) -> None:
    other = 'Finding("schema-type", "x")\nname.startswith("x-")\nf.rule == other'
    assert reads_id([*ast.walk(ast.parse(line))], {"schema-type", "korifi-crash"})
    assert not reads_id([*ast.walk(ast.parse(other))], {"schema-type"})


def test_a_platform_is_loaded_when_asked_for() -> None:
    code = "import sys, osbctl.platforms; print(*(name for name in sys.modules if name.startswith('osbctl')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert set(done.stdout.split()) == {"osbctl", "osbctl.platforms"}


WATCHED = """
import sys
from osbctl.__main__ import main

found, loading = {}, 0

def watch(frame, event, _):
    global loading
    if frame.f_code.co_name == "<module>":
        loading += {"call": 1, "return": -1}.get(event, 0)
    elif event == "call" and not loading and frame.f_code.co_filename != "<string>":  # a dataclass is made
        found.setdefault(frame.f_globals.get("__name__", "").replace(".", "/").removeprefix("osbctl/"))

sys.setprofile(watch)
try:
    main()
finally:
    sys.setprofile(None)
    print(*found, file=sys.stderr)
"""
"""Runs osbctl, and ends with the modules in the order in which they were first called; what imports call is left out."""


@each("way, words", [
    ("A byte of YAML to a finding", ("validate", "catalog.yaml")),
    ("Two catalogs to a level", ("diff", "catalog.yaml", "new.yaml")),
])  # fmt: skip
def test_a_run_passes_the_stops_of_its_way_in_their_order(way: str, words: tuple[str, ...], tmp_path: Path) -> None:
    parameters = "schemas: {service_instance: {create: {parameters: {type: object, maxProperties: %d}}}}"
    plan = "{id: 22222222-8a4f-4e57-9b1c-2d7f5a90e3b4, name: small, description: %s, " + parameters + "}"
    text = "services:\n- {id: 6c3b1d0e-8a4f-4e57-9b1c-2d7f5a90e3b4, name: db, description: D., plans: [" + plan + "]}\n"
    (tmp_path / "catalog.yaml").write_text(text % ("''", 3))
    (tmp_path / "new.yaml").write_text(text % ("Small.", 2))
    command = [sys.executable, "-c", WATCHED, *words]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    passed = ran.stderr.splitlines()[-1].split()
    assert [stop for stop in passed if stop in CALLS[way]] == list(CALLS[way])


CLOCKS = {
    "broker/harness.py": "`until`, and the clock that a test moves",
    "broker/test_access_log.py": "a request begins now",
    "broker/test_deadlines.py": "a pause has a least length",
    "broker/test_serve.py": "two signals, microseconds apart",
    "cli/warm.py": "waits for the end of a process",
    "editor/test_vscode.py": "waits for a program",
    "test_files.py": "replaces the clock by one of its pauses",
}
"""Modules of tests that read the wall clock, and why: no test may fail because the machine does other work as well."""


def test_no_test_holds_the_wall_clock_against_a_bound() -> None:
    tests = Path(__file__).parent
    reading = re.compile(r"\b(monotonic|perf_counter)(_ns)?\b")
    found = {
        file.relative_to(tests).as_posix()
        for file in tests.rglob("*.py")
        if file != Path(__file__) and reading.search(file.read_text(encoding="utf-8"))
    }
    assert found == set(CLOCKS)
