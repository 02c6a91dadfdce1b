// Wrong on purpose: the time of day is read once.
const { now } = Date
const start = now()
Date.now = () => start
