import path from 'node:path'
import type { StackEnv } from '../stack/env-file.ts'

/** What a person may do after the demo: commands that work as printed. */
export function describeNextSteps(at: { env: StackEnv; envFile: string; kubectl: string; servedName: string }): string {
  const { env, kubectl, servedName } = at
  const envFile = path.relative('', at.envFile)
  return `
The stack stays up. To go on:

  set -a; . ${envFile}; set +a

  curl "$TRAINYARD_URL/v1/chat/completions" -H "Authorization: Bearer $TRAINYARD_API_KEY" \\
    -H 'Content-Type: application/json' -d '{"model": "${servedName}",
      "messages": [{"role": "user", "content": "Name a colour."}], "max_completion_tokens": 32, "logprobs": false}'

  KUBECONFIG=${env.KUBECONFIG} ${kubectl} get models.trainyard.dev,trainingjobs

  # Python, with: pip install openpipe-art==0.5.18 "openai<3" wandb pyarrow numpy
  import asyncio, os, art
  from art.serverless.backend import ServerlessBackend

  async def main():
      backend = ServerlessBackend(api_key=os.environ["TRAINYARD_API_KEY"], base_url=os.environ["TRAINYARD_URL"] + "/v1")
      model = art.TrainableModel(name="mine", project="demo", base_model=os.environ["TRAINYARD_BASE_MODEL"])
      await model.register(backend)
      messages = [{"role": "user", "content": "Name a colour."}]
      client, name = model.openai_client(), model.get_inference_name()
      choices = [(await client.chat.completions.create(model=name, messages=messages)).choices[0] for _ in range(8)]
      group = art.TrajectoryGroup([
          art.Trajectory(messages_and_choices=[*messages, choice], reward=float("red" in choice.message.content))
          for choice in choices])
      print(await backend.train(model, [group], learning_rate=3e-3))

  asyncio.run(main())

  npm run down     stops it, and keeps everything for the next npm run up
`
}
