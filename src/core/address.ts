/** The address of all callers that nothing tells apart. It is nobody's own, so nothing is kept for it. */
export const unknownAddress = 'unknown'
