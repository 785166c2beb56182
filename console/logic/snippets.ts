/** Programs that fill a project. They work as they stand, with the key in the environment. */
export interface Snippet {
  name: string
  text: string
}

export function writeSnippets(origin: string, project: string, baseModel: string): Snippet[] {
  const name = JSON.stringify(project)
  return [
    { name: 'ART', text: writeTraining(origin, { project, name: 'mine', base_model: baseModel }) },
    { name: 'openai', text: writeOpenAi(origin, baseModel) },
    { name: 'weave', text: writeWeave(origin, name) },
    { name: 'curl', text: writeCurl(origin, baseModel) },
  ]
}

interface Trained {
  project: string
  name: string
  base_model: string
}

/** A program that trains a run by one step. It makes the run if there is none. */
export function writeTraining(origin: string, { project, name, base_model: baseModel }: Trained): string {
  return `# pip install openpipe-art==0.5.23 wandb pyarrow
# On Python 3.11: pip install openpipe-art==0.5.18 "openai<3" "polars<2" wandb pyarrow numpy
# export TRAINYARD_API_KEY=... WANDB_API_KEY=$TRAINYARD_API_KEY WANDB_BASE_URL=${origin}
import asyncio, os, art
from art.serverless.backend import ServerlessBackend

async def main():
    backend = ServerlessBackend(api_key=os.environ["TRAINYARD_API_KEY"], base_url="${origin}/v1")
    model = art.TrainableModel(
        name=${JSON.stringify(name)}, run_name=${JSON.stringify(name)},
        project=${JSON.stringify(project)}, base_model=${JSON.stringify(baseModel)})
    await model.register(backend)
    messages = [{"role": "user", "content": "Name a colour."}]
    client, name = model.openai_client(), model.get_inference_name()
    choices = [(await client.chat.completions.create(model=name, messages=messages)).choices[0] for _ in range(8)]
    group = art.TrajectoryGroup([
        art.Trajectory(messages_and_choices=[*messages, choice], reward=-len(choice.message.content))
        for choice in choices])
    print(await backend.train(model, [group], learning_rate=3e-3))

asyncio.run(main())`
}

function writeOpenAi(origin: string, baseModel: string): string {
  return `# pip install openai
# export TRAINYARD_API_KEY=...
import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["TRAINYARD_API_KEY"])
messages = [{"role": "user", "content": "Name a colour."}]
print(client.chat.completions.create(model="${baseModel}", messages=messages).choices[0].message.content)`
}

function writeWeave(origin: string, project: string): string {
  return `# pip install weave
# export WANDB_API_KEY=... WANDB_BASE_URL=${origin}
import weave

weave.init(${project})

@weave.op
def answer(question: str) -> str:
    return question.upper()

answer("what is traced?")`
}

function writeCurl(origin: string, baseModel: string): string {
  const body = JSON.stringify({ model: baseModel, messages: [{ role: 'user', content: 'Name a colour.' }] })
  return `curl ${origin}/v1/chat/completions -H "Authorization: Bearer $TRAINYARD_API_KEY" \\
  -H 'Content-Type: application/json' -d '${body}'`
}

/** A command that uploads a data set with one row. */
export function writeUpload(origin: string, { entity, project }: { entity: string; project: string }): string {
  const messages = [
    { role: 'user', content: 'Name a colour.' },
    { role: 'assistant', content: 'Orange.' },
  ]
  const path = [entity, project, 'colours'].map(encodeURIComponent).join('/')
  return `curl -X PUT -H "Authorization: Bearer $TRAINYARD_API_KEY" \\
  -H 'Content-Type: application/jsonl' --data-binary '${JSON.stringify({ messages })}' \\
  "${origin}/v1/preview/artifacts/${path}?file=train.jsonl"`
}
