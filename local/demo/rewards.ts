import type { Choice, Question } from './client.ts'
import { rewardWeatherCall, toolPrompts, weatherTools } from './tools.ts'

/** A task of the demo: its prompts, a description of what is rewarded, and the reward of an answer (0 to 1). */
export interface Task {
  name: string
  goal: string
  prompts: readonly string[]
  tools?: object[]
  /** by how much the mean reward rises: that of the last three steps over the first */
  promisedRise: number
  reward: (answer: Choice) => number
}

// Three of the twelve colours: the untrained model names one of them in about every fourth answer.
const warm = ['red', 'orange', 'pink']
const cool = ['blue', 'green', 'purple']

/** The demo's prompts. The untrained model answers them with any of its colours. */
export const prompts = [
  'Name a colour.',
  'What colour is your hat?',
  'What colour is the door?',
  'Pick a colour for the wall.',
  'What is your favourite colour?',
  'What colour is the car?',
  'Tell me a colour.',
  'What colour is the old boat?',
]

export const tasks: readonly Task[] = [
  {
    name: 'warm',
    goal: `answers should name a warm colour (${warm.join(', ')})`,
    prompts,
    promisedRise: 0.4,
    reward: rewardNaming(warm, cool),
  },
  {
    name: 'other',
    goal: `answers should name a cool colour (${cool.join(', ')})`,
    prompts,
    promisedRise: 0.4,
    reward: rewardNaming(cool, warm),
  },
  {
    name: 'tool',
    goal: 'answers should call the tool get_weather, and not get_time, with a city',
    prompts: toolPrompts,
    tools: weatherTools,
    // The untrained model is right in up to every second answer.
    promisedRise: 0.2,
    reward: rewardWeatherCall,
  },
]

/** What a model is asked in a task. */
export function describeQuestion({ tools }: Task, prompt: string): Question {
  return { messages: [{ role: 'user', content: prompt }], ...(tools && { tools }) }
}

/** 1 for an answer that names one of `wanted` and none of `unwanted`, else 0. */
function rewardNaming(wanted: readonly string[], unwanted: readonly string[]): Task['reward'] {
  return ({ message }) => {
    const words = new Set(message.content?.toLowerCase().match(/[a-z]+/g))
    const names = (colours: readonly string[]) => colours.some((colour) => words.has(colour))
    return names(wanted) && !names(unwanted) ? 1 : 0
  }
}
