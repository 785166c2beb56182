import { annotations, reasons } from '../../crds/names.ts'
import type { RegistrationConflict } from '../../db/base-models/resources.ts'
import type { StatusReason } from '../conditions.ts'

/** Explains why a base model is not accepted. */
export function describeConflict({ taken, source }: RegistrationConflict): StatusReason {
  if (taken) {
    const message =
      `BaseModel ${taken.holder} is older and has the name ${taken.name}. ` +
      'Remove the name here, or wait until it is free.'
    return { reason: reasons.nameConflict, message }
  }
  const message =
    `Models of this name (${source?.models}) were trained with another source or lora: ` +
    `${JSON.stringify(source?.trainedOn)}. Use these values, or another first name. If the weights are the same, ` +
    `annotate this BaseModel with ${annotations.replacesSource}=true.`
  return { reason: reasons.sourceChanged, message }
}
