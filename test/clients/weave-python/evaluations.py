"""Evaluations with models, scorers and datasets, and with the imperative logger. Reads the results back."""

import asyncio

import weave
from session import begin, end, name_of, plain

client = begin()


class Doubler(weave.Model):
    factor: int

    @weave.op
    def predict(self, number: int) -> int:
        if number == 13:
            raise ValueError("unlucky")
        return self.factor * number


class Near(weave.Scorer):
    within: int

    @weave.op
    def score(self, output: int, target: int) -> dict:
        return {"near": output is not None and abs(output - target) <= self.within}


@weave.op
def exact(output: int, target: int) -> bool:
    return output == target


async def run_all() -> list[dict]:
    rows = [{"number": number, "target": 2 * number + (number % 5 == 0)} for number in (1, 2, 5, 10, 13)]
    dataset = weave.Dataset(name="targets", rows=rows)
    evaluation = weave.Evaluation(name="doubling", dataset=dataset, scorers=[exact, Near(name="near", within=1)])
    return [await evaluation.evaluate(Doubler(name="doubler", factor=factor)) for factor in (2, 3)]


def without_latency(summary: dict) -> dict:
    return {key: value for key, value in plain(summary).items() if key != "model_latency"}


summaries = asyncio.run(run_all())
logger = weave.EvaluationLogger(name="by hand", model="my-model", dataset="my-data")
for number in range(3):
    prediction = logger.log_prediction(inputs={"number": number}, output=number * 2)
    prediction.log_score("doubled", True)
    prediction.finish()
logger.log_summary({"mood": "fine"})
client.flush()

calls = list(client.get_calls())
counts: dict[str, int] = {}
for call in calls:
    counts[name_of(call.op_name)] = counts.get(name_of(call.op_name), 0) + 1
evaluated = [call for call in calls if name_of(call.op_name) == "Evaluation.evaluate"]
evaluation = evaluated[0].inputs["self"]
predictions = [call for call in calls if name_of(call.op_name) == "Evaluation.predict_and_score"]
first = next(call for call in predictions if call.parent_id == evaluated[0].id)
facts = {
    "summaries": [without_latency(summary) for summary in summaries],
    "counts": counts,
    "read_back": [without_latency(call.output) for call in evaluated[:2]],
    "evaluation": [evaluation.name, len(evaluation.dataset.rows), evaluated[0].inputs["model"].factor],
    "first": {"output": plain(first.output)["output"], "scores": plain(first.output)["scores"]},
    "statuses": sorted({call.summary["weave"]["status"] for call in calls}),
    "status_of_evaluation": evaluated[0].summary["weave"]["status"],
    "failed": sorted(call.inputs["number"] for call in calls if call.exception),
    "finished": all(call.ended_at for call in calls),
    "evaluations": sorted(one.object_id for one in client._objects(filter={"base_object_classes": ["Evaluation"]})),
    "example_rows": sorted(
        call.inputs["example"]["number"] for call in predictions if call.parent_id == evaluated[0].id
    ),
}
facts["scores"] = sorted(one.feedback_type for one in client.get_feedback())
end(facts)
