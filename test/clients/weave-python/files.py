"""Images, texts and bytes in calls and objects, and long texts in calls."""

import datetime
import os

import weave
from PIL import Image
from session import begin, end

client = begin()
noise = os.urandom(300_000)


@weave.op
def paint(width: int) -> Image.Image:
    return Image.frombytes("RGB", (width, 100), noise[: width * 300])


@weave.op
def wrap(data: bytes) -> weave.Content:
    return weave.Content.from_bytes(data, mimetype="application/octet-stream", extension=".bin")


@weave.op
def note() -> dict:
    return {"when": datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC), "text": weave.Markdown("# Tide")}


@weave.op
def read_aloud(text: str) -> dict:
    return {"text": text, "again": [text]}


book = "The sea. ☂ " * 40_000  # The SDK takes minutes to read lines of tens of megabytes.
painted = paint(300)
wrap(noise)
note()
read_aloud(book)
client.flush()
image_call, wrap_call, note_call, book_call = client.get_calls()
image = image_call.output
published = weave.publish({"picture": painted, "text": weave.Content.from_text("tide ☂")}, name="album")
client.flush()  # the SDK sends files in the background
album = published.get()
facts = {
    "image": [image.size, image.mode, image.tobytes() == painted.tobytes()],
    "content": [wrap_call.output.mimetype, wrap_call.output.data == noise],
    "when": str(note_call.output["when"]),
    "markdown": note_call.output["text"].markup,
    "long_text": [book_call.inputs["text"] == book, book_call.output["again"][0] == book],
    "published_image": album["picture"].tobytes() == painted.tobytes(),
    "text": album["text"].as_string(),
}
end(facts)
