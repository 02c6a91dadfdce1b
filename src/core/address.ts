/** The shared address of callers that cannot be distinguished. Nothing is stored for it. */
export const unknownAddress = 'unknown'
