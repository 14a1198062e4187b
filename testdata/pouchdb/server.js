// PouchDB Server (express-pouchdb) for couchgauge's tests.
//
//   node server.js           databases in memory
//   node server.js FOLDER    databases in LevelDB below FOLDER
//
// It listens on a free port of 127.0.0.1, prints its URL on the first line of
// its output, and ends when its input ends: it never outlives its parent.
'use strict'

const fs = require('fs')
const os = require('os')
const path = require('path')

const folder = process.argv[2] && path.resolve(process.argv[2])

// Form parts are spooled to temporary files that nobody removes, and a "/" in
// a database's name makes a folder where the process stands: both go here.
const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'couchgauge-pouchdb-'))
process.env.TMPDIR = temporary
process.chdir(temporary)
process.on('exit', () => fs.rmSync(temporary, { recursive: true, force: true }))

// A database that is dropped while a request or a feed uses it rejects
// promises that nobody waits for. That must not end the server.
process.on('unhandledRejection', (reason) => {
  console.error('unhandled rejection:', reason)
})

const express = require('express')
const expressPouchDB = require('express-pouchdb')

// Whatever adapter is registered first is used for plain names. None is named
// as the default: it would then be used for "http://…" sources as well, which
// would open as empty local databases.
let PouchDB = require('pouchdb-core')
  .plugin(require(folder ? 'pouchdb-adapter-leveldb' : 'pouchdb-adapter-memory'))
  .plugin(require('pouchdb-adapter-http'))
  .plugin(require('pouchdb-mapreduce'))
  .plugin(require('pouchdb-replication'))
  .plugin(require('pouchdb-find'))
if (folder) {
  fs.mkdirSync(folder, { recursive: true })
  PouchDB = PouchDB.defaults({ prefix: folder + path.sep })
}

const app = express()
app.use('/', expressPouchDB(PouchDB, { inMemoryConfig: true, logPath: os.devNull }))

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`)
})
server.requestTimeout = 0 // uploads may be slow on purpose

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0))
process.stdin.on('end', () => process.exit(0)).resume()
