import type { ReactNode } from 'react'
import { baseUrl } from '../../data/base.ts'
import { writeTraining } from '../../logic/snippets.ts'
import { Empty } from '../../parts/state.tsx'
import { useModel } from './use-model.ts'

/** What a run has not got yet, and the program that trains it by one step. */
export function EmptyRun({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Empty title={title} command={writeTraining(baseUrl, useModel())}>
      {children}
    </Empty>
  )
}
