/** An emoji, or two letters. Made when it is first needed: the table of all emoji is a tenth of what starting a hub costs. */
const iconPattern = (): RegExp => /^(?:\p{RGI_Emoji}|[\p{L}\p{N}]{1,2})$/v;

/** Whether a text may stand for an agent, and holds nothing that cannot be seen. */
export const isIcon = (text: string): boolean => iconPattern().test(text);
