/** An emoji, or two letters. */
const iconPattern = /^(?:\p{RGI_Emoji}|[\p{L}\p{N}]{1,2})$/v;

/** Whether a text may stand for an agent, and holds nothing that cannot be seen. */
export const isIcon = (text: string): boolean => iconPattern.test(text);
