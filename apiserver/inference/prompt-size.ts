/** Long prompts rarely have fewer bytes per token. */
export const bytesPerPromptToken = 3
