/** A prompt of any length in fewer bytes per token is rare. */
export const bytesPerPromptToken = 3
