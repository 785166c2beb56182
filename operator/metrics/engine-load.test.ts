import { expect, test } from 'vitest'
import { findBusy } from './engine-load.ts'

test.each([
  ['no request runs', 'vllm:num_requests_running{engine="0",model_name="a"} 0.0\n', false],
  ['a request runs', 'vllm:num_requests_running{engine="0",model_name="a"} 2.0\n', true],
  [
    'one of two processes answers a request',
    'vllm:num_requests_running{engine="0"} 0.0\nvllm:num_requests_running{engine="1"} 1.0\n',
    true,
  ],
  ['requests only wait', 'vllm:num_requests_waiting{engine="0"} 3.0\n', undefined],
  ['the metrics are of something else', 'up 1\n', undefined],
])('an engine where %s', (_, text, isBusy) => {
  expect(findBusy(text)).toBe(isBusy)
})
