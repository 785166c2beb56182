from pathlib import Path

FOLDER = Path(__file__).parent


def read_pins(file: Path) -> dict[str, str]:
    lines = [line for line in file.read_text().splitlines() if "==" in line and not line.startswith((" ", "#"))]
    return dict(line.split(" ")[0].split("==") for line in lines)


def test_the_trainer_is_compared_as_it_is_installed():
    own, peers = read_pins(FOLDER.parent / "requirements.txt"), read_pins(FOLDER / "requirements.txt")
    # ART needs an older openai than vLLM. The trainer uses neither.
    shared = own.keys() & peers.keys() - {"openai"}
    assert {"torch", "transformers", "peft", "numpy"} <= shared
    assert {"openpipe-art", "trl"} <= peers.keys()
    assert {name: peers[name] for name in shared} == {name: own[name] for name in shared}
