// The process of the played trainers. Its parent says what they do.
import { PlayedTrainer, type Play, type TrainerAccess } from './played-trainer.ts'

/** Where the trainers of all pods work, or what they do from now on. */
export type TrainersMessage = { access: TrainerAccess[] } | { change: Partial<Play> }

const play: Play = { toHold: 0, isReleased: false, isTraining: false }

process.on('message', (message: TrainersMessage) => {
  if ('change' in message) Object.assign(play, message.change)
  else for (const access of message.access) void new PlayedTrainer(access, play).run()
})
