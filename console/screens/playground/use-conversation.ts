import { useCallback, useEffect, useRef, useState } from 'react'
import { streamChat } from '../../data/chat.ts'
import { noAnswer, type PartialAnswer } from '../../logic/chat-stream.ts'
import { joinMessages, writeChatBody, type ChatSettings, type Message } from '../../logic/playground.ts'

/** What all panes are asked at once. */
export interface Question {
  prompt: string
  /** The conversation before the first prompt. */
  base: readonly Message[]
  settings: ChatSettings
  /** Ends all answers. */
  signal: AbortSignal
}

/** A prompt and a model's answer to it. */
export interface Round {
  prompt: string
  body: ReturnType<typeof writeChatBody>
  answer: PartialAnswer
  startMs: number
  firstMs: number | undefined
  endMs: number | undefined
  error: Error | undefined
  isStopped: boolean
}

// Answers are painted at most this often.
const paintMs = 80

/** The conversation of one pane. Each question is answered for itself: a slow pane delays no other one. */
export function useConversation(
  model: string,
  question: Question | undefined,
  report: (rounds: readonly Round[]) => void,
): { rounds: readonly Round[]; isBusy: boolean; stop: () => void } {
  const [rounds, setRounds] = useState<readonly Round[]>([])
  const own = useRef<AbortController>(undefined)
  const all = useRef<readonly Round[]>([])
  const reporter = useRef(report)
  useEffect(() => void (reporter.current = report))
  // A pane that is added later waits for the next question.
  const before = useRef(question)
  useEffect(() => {
    if (!question || question === before.current) return undefined
    const controller = new AbortController()
    own.current = controller
    const earlier = all.current
    const painter = createPainter((round: Round) => {
      all.current = [...earlier, round]
      setRounds(all.current)
      reporter.current(all.current)
    })
    void ask(model, question, { earlier, signal: AbortSignal.any([controller.signal, question.signal]), ...painter })
    return () => controller.abort()
  }, [model, question])
  const stop = useCallback(() => own.current?.abort(), [])
  return { rounds, isBusy: rounds.length > 0 && rounds.at(-1)!.endMs === undefined, stop }
}

interface Asking {
  earlier: readonly Round[]
  signal: AbortSignal
  paint: (round: Round) => void
  paintNow: (round: Round) => void
}

async function ask(model: string, question: Question, { earlier, signal, paint, paintNow }: Asking): Promise<void> {
  const { prompt, settings } = question
  const messages = joinMessages(settings.system, [
    ...question.base,
    ...earlier.flatMap(takeRound),
    ...(prompt === '' ? [] : [{ role: 'user', content: prompt }]),
  ])
  let round: Round = {
    prompt,
    body: writeChatBody(model, messages, settings),
    answer: noAnswer,
    startMs: Date.now(),
    firstMs: undefined,
    endMs: undefined,
    error: undefined,
    isStopped: false,
  }
  paintNow(round)
  try {
    await streamChat(round.body, signal, (answer) => {
      const isFirst = round.firstMs === undefined && (answer.text !== '' || answer.logprobs.length > 0)
      round = { ...round, answer, ...(isFirst && { firstMs: Date.now() }) }
      paint(round)
    })
    paintNow({ ...round, endMs: Date.now() })
  } catch (error) {
    const ended = signal.aborted
      ? { isStopped: true }
      : { error: error instanceof Error ? error : new Error(String(error)) }
    paintNow({ ...round, ...ended, endMs: Date.now() })
  }
}

/** An answer that failed is no part of the conversation. */
function takeRound({ prompt, answer, error }: Round): Message[] {
  if (error || answer.text === '') return []
  return [...(prompt === '' ? [] : [{ role: 'user', content: prompt }]), { role: 'assistant', content: answer.text }]
}

function createPainter(show: (round: Round) => void): Pick<Asking, 'paint' | 'paintNow'> {
  let next: Round | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const paintNow = (round: Round) => {
    clearTimeout(timer)
    timer = undefined
    show(round)
  }
  const paint = (round: Round) => {
    next = round
    timer ??= setTimeout(() => paintNow(next!), paintMs)
  }
  return { paint, paintNow }
}
