import { runCommand } from './command.ts'
import { readLocalConfig } from './config.ts'
import { stopMachinery, type StopReport } from './stack/stop.ts'
import { Board } from './terminal/board.ts'

/** `npm run down`: stops everything of the stack, however it was left, and keeps its data. */
await runCommand(async () => {
  const { stateFolder } = readLocalConfig()
  const board = new Board()
  const report = await board.run('stopping the stack', () => stopMachinery(stateFolder), { quietMs: 500 })
  board.say(describeStop(report, stateFolder))
})

function describeStop({ programs, leftovers }: StopReport, stateFolder: string): string {
  if (programs.length === 0 && leftovers === 0) return 'Nothing is running.'
  const stopped = [
    ...(programs.length > 0 ? [`the pods, ${programs.toReversed().join(', ')}`] : []),
    ...(leftovers > 0 ? [`${leftovers} processes of a run that crashed`] : []),
  ]
  return `Stopped: ${stopped.join('; ')}. The data stays in ${stateFolder}; \`npm run up\` starts again with it.`
}
