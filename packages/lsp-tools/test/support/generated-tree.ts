import type { Files } from "@toolhaft/testing";

export interface GeneratedTree {
  files: Files;
  /** Where the symbol is defined. */
  definition: string;
  symbol: string;
  /** All of them, the declaration included: known because of how the tree is made. */
  references: number;
}

/** A TypeScript tree of packages whose numbers of references are known by construction. */
export function generatedTree(packages = 12, perPackage = 50, usedInEvery = 20): GeneratedTree {
  const files: Record<string, string> = {
    "package.json": '{ "name": "tree", "private": true, "type": "module" }\n',
    "tsconfig.json":
      '{ "compilerOptions": { "strict": true, "target": "es2022", "module": "nodenext", "moduleResolution": "nodenext", "noEmit": true, "types": [] }, "include": ["packages"] }\n',
  };
  let references = 1;
  for (let p = 0; p < packages; p++) {
    for (let f = 0; f < perPackage; f++) {
      const path = `packages/p${p}/src/f${f}.ts`;
      const own = `export interface Thing${p}x${f} { id: number; name: string }\nexport function make${p}x${f}(id: number): Thing${p}x${f} {\n  return { id, name: String(id) };\n}\n`;
      if (p === 0 && f === 0) {
        files[path] = `export function target(value: number): number {\n  return value + 1;\n}\n${own}`;
      } else if ((p * perPackage + f) % usedInEvery === 0) {
        // one in the import, two in the body
        files[path] =
          `import { target } from "../../p0/src/f0.js";\n${own}export const sum${p}x${f} = target(${f}) + target(${p});\n`;
        references += 3;
      } else files[path] = own;
    }
  }
  return { files, definition: "packages/p0/src/f0.ts", symbol: "target", references };
}
