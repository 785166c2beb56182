import { Age } from '../../parts/badges.tsx'
import type { Column } from '../../parts/table.tsx'

/** How old a row is. */
export const createdColumn: Column<{ created_at: string }> = {
  id: 'created',
  head: 'Created',
  width: '104px',
  isNumber: true,
  cell: ({ created_at: time }) => <Age time={time} />,
}
