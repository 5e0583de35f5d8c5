// SPDX-License-Identifier: GPL-3.0-or-later
// speedscope-import.js FOLDER FILE: reads FILE by the importer of speedscope's
// npm package in FOLDER, without its window, and prints how many seconds that
// took. The importer is a module inside the bundle: a
// promise of it is the first thing that the bundle makes and waits for.
const fs = require('fs')
const path = require('path')
const vm = require('vm')

const [folder, file] = process.argv.slice(2)
const release = path.join(folder, 'dist', 'release')
const bundle = fs.readdirSync(release).find(name => /^speedscope-.*\.js$/.test(name))
const source = fs.readFileSync(path.join(release, bundle), 'utf8')
  .replace(/(\w+)(=Promise\.resolve\(\)\.then\(\(\)=>\(\w+\(\),\w+\)\));\1\.then/, '$1$2;globalThis.importer=$1;$1.then')

// Everything that a page has: any member, any call, any number.
const page = new Proxy(function () {}, {
  get: (_, key) => key === Symbol.toPrimitive ? () => 0 : key === 'then' ? undefined : page,
  apply: () => page,
  construct: () => page,
})
for (const name of ['window', 'document', 'localStorage', 'history', 'location'])
  globalThis[name] = page
const say = console.log
console.log = () => {}
try {
  vm.runInThisContext(source)
} catch {
  // The window's part of it.
}
async function main() {
  const importer = await globalThis.importer
  const start = process.hrtime.bigint()
  const group = await importer.importProfileGroupFromText(path.basename(file), fs.readFileSync(file, 'utf8'))
  say(Number(process.hrtime.bigint() - start) / 1e9)
  process.exit(group && group.profiles.length > 0 ? 0 : 1)
}
main()
