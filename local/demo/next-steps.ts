import path from 'node:path'
import type { StackEnv } from '../stack/env-file.ts'
import { describeQuestion, type Task } from './rewards.ts'

export interface DemoEnd {
  env: StackEnv
  envFile: string
  kubectl: string
  servedName: string
  task: Task
}

/** The next steps after the demo. The commands work as printed, so they are not indented. */
export function describeNextSteps({ env, envFile, kubectl, servedName, task }: DemoEnd): string {
  const [prompt = ''] = task.prompts
  const question = { model: servedName, ...describeQuestion(task, prompt), max_completion_tokens: 64, logprobs: false }
  return `
The stack stays up. Go on with these, as they stand:

# addresses and key, for the commands below
set -a; . ${path.relative('', envFile)}; set +a

# ask the model that was just trained (":step0" behind its name asks the untrained one)
curl "$TRAINYARD_URL/v1/chat/completions" -H "Authorization: Bearer $TRAINYARD_API_KEY" \\
  -H 'Content-Type: application/json' -d '${JSON.stringify(question)}'

# what Kubernetes knows of it
KUBECONFIG=${env.KUBECONFIG} ${kubectl} get models.trainyard.dev,trainingjobs

# the same from Python 3.12 or newer, with OpenPipe ART: pip install openpipe-art==0.5.23 wandb pyarrow
export WANDB_BASE_URL=$TRAINYARD_URL WANDB_API_KEY=$TRAINYARD_API_KEY LITELLM_LOCAL_MODEL_COST_MAP=True
python3 - <<'PYTHON'
${artSnippet}
PYTHON

# stop the stack; everything is kept for the next "npm run up"
npm run down
`
}

const artSnippet = `\
import asyncio, os, art
from art.serverless.backend import ServerlessBackend

async def main():
    backend = ServerlessBackend(api_key=os.environ["TRAINYARD_API_KEY"], base_url=os.environ["TRAINYARD_URL"] + "/v1")
    base_model = os.environ["TRAINYARD_BASE_MODEL"]
    model = art.TrainableModel(name="mine", run_name="mine", project="demo", base_model=base_model)
    await model.register(backend)
    messages = [{"role": "user", "content": "Name a colour."}]
    client, name = model.openai_client(), model.get_inference_name()
    choices = [(await client.chat.completions.create(model=name, messages=messages)).choices[0] for _ in range(8)]
    group = art.TrajectoryGroup([
        art.Trajectory(messages_and_choices=[*messages, choice], reward=-len(choice.message.content))  # shorter is better
        for choice in choices])
    print(await backend.train(model, [group], learning_rate=3e-3))

asyncio.run(main())`
