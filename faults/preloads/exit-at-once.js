// Wrong on purpose: the first SIGTERM ends the process, whatever is in flight.
process.on('SIGTERM', () => process.exit(0))
