"""What the engine reads from the text of a chat template before it renders one. All of it is as in vLLM."""

from collections.abc import Iterable
from functools import lru_cache

from jinja2 import meta, nodes
from transformers.utils.chat_template_utils import _compile_jinja_template

# A tokenizer may have one template with tools and another one without.
MAX_TEMPLATES = 32


@lru_cache(MAX_TEMPLATES)
def find_variables(template: str) -> frozenset[str]:
    """The variables that a template reads and does not set itself."""
    return frozenset(meta.find_undeclared_variables(parse(template)))


def names_developer(template: str) -> bool:
    return "'developer'" in template or '"developer"' in template


@lru_cache(MAX_TEMPLATES)
def loops_over_parts(template: str) -> bool:
    """Whether a template has a loop over the content of a message, and so takes contents as lists of parts.

    A content is `message.content` of a loop over messages, a macro's argument that is called with one, or a variable
    `content` outside of macros. Where the engine does not understand a target, it takes contents for texts.
    """
    root = parse(template)
    aliases = find_aliases(root, "messages")
    loops = list(root.find_all(nodes.For))
    targets = [loop.target for loop in loops if reads_any(loop.iter, aliases)]
    if not all(isinstance(target, nodes.Name) for target in [*aliases.values(), *targets]):
        return False
    messages = {target.name for target in targets if isinstance(target, nodes.Name)}
    arguments = find_arguments(root, messages)
    for loop in loops:
        names = arguments.get(id(loop), {"content"})
        is_name = isinstance(loop.iter, nodes.Name) and loop.iter.name in names
        if is_name or reads_any(loop.iter, messages, "content"):
            return isinstance(loop.target, nodes.Name)
    return False


def parse(template: str) -> nodes.Template:
    return _compile_jinja_template(template).environment.parse(template)


def find_aliases(root: nodes.Template, name: str) -> dict[str, nodes.Node]:
    """A variable and those that are set to it or to some of its elements, with what is set."""
    found: dict[str, nodes.Node] = {name: nodes.Name(name, "load")}
    assigns = list(root.find_all(nodes.Assign))
    names = [name]
    while names:
        source = names.pop()
        for target in (assign.target for assign in assigns if reads_any(assign.node, [source])):
            alias = target.name if isinstance(target, nodes.Name) else ""
            if alias not in found:
                found[alias] = target
                names.append(alias)
    return found


def find_arguments(root: nodes.Template, messages: Iterable[str]) -> dict[int, set[str]]:
    """For each loop in a macro: the macro's arguments that it is called with a message's content for."""
    found: dict[int, set[str]] = {}
    for macro in root.find_all(nodes.Macro):
        calls = [call for call in root.find_all(nodes.Call) if is_call(call, macro.name)]
        pairs = [pair for call in calls for pair in pair_arguments(call, macro)]
        names = {name for name, value in pairs if reads_any(value, messages, "content")}
        for loop in macro.find_all(nodes.For):
            found[id(loop)] = names or found.get(id(loop), set())
    return found


def is_call(call: nodes.Call, name: str) -> bool:
    return isinstance(call.node, nodes.Name) and call.node.name == name


def pair_arguments(call: nodes.Call, macro: nodes.Macro) -> list[tuple[str, nodes.Node]]:
    names = [parameter.name for parameter in macro.args]
    named = [(pair.key, pair.value) for pair in call.kwargs if isinstance(pair, nodes.Keyword) and pair.key in names]
    return [*zip(names, call.args, strict=False), *named]


def reads_any(node: nodes.Node | None, names: Iterable[str], member: str | None = None) -> bool:
    """Whether an expression is one of the variables, or a member of one, behind any filters, tests and slices."""
    while True:
        match node:
            case nodes.Filter() | nodes.Test():
                node = node.node
            case nodes.Getitem(arg=nodes.Slice()):
                node = node.node
            case nodes.Name(ctx="load"):
                return member is None and node.name in names
            case nodes.Getattr(node=nodes.Name(ctx="load") as owner, attr=attr):
                return attr == member and owner.name in names
            case nodes.Getitem(node=nodes.Name(ctx="load") as owner, arg=nodes.Const(value=value)):
                return value == member and owner.name in names
            case _:
                return False
