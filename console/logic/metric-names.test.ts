import { expect, test } from 'vitest'
import { artNames } from '../../db/jobs/metric-logging.ts'
import { leaveOutCopies, listCopies, nameToday } from './metric-names.ts'

const list = (source: string, keys: string[]) => keys.map((key) => ({ key, source }))

test('what clients log of a job is not shown beside the metric itself', () => {
  const own = [...list('gradient', ['loss', 'num_tokens', 'num_trainable_tokens']), ...list('training', ['reward'])]
  const others = list('logged', ['val/reward', 'loss', 'train/judge', 'data/step_num_gradient_steps'])
  const copies = list('logged', [
    'train/reward',
    'loss/train',
    'sft/loss/train',
    'sft/num_tokens',
    'train/num_tokens',
    'data/step_trainer_tokens',
    'data/step_trainable_assistant_tokens',
    'sft/gradient_step',
  ])
  expect(leaveOutCopies([...copies, ...own, ...others])).toEqual([...own, ...others])
  expect(leaveOutCopies([...copies.slice(0, -1), ...others])).toEqual([...copies.slice(0, -1), ...others])
})

test('a metric of ART has one name, whichever release logs it', () => {
  expect(['train/group_judge', 'val/group_a/b', 'time/step_trainer_s', 'train/reward'].map(nameToday)).toEqual([
    'train/group/judge',
    'val/group/a/b',
    'time/step_backend_train_s',
    'train/reward',
  ])
})

test('the rows of SFT jobs are copies of the metrics of the job', () => {
  for (const [own, name] of Object.entries(artNames)) expect(listCopies(own)).toContain(name)
})

test('a metric with the name of a member of every object has copies like another one', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    expect(listCopies(name)).toEqual([`train/${name}`, `sft/${name}`])
    expect(nameToday(name)).toBe(name)
  }
})
