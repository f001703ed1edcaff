import type { Files } from "@toolhaft/testing";

/** Small projects with something for every tool to find. */
export const typescriptProject: Files = {
  "package.json": '{ "name": "demo", "private": true }\n',
  "tsconfig.json":
    '{ "compilerOptions": { "strict": true, "target": "es2022", "module": "nodenext", "moduleResolution": "nodenext", "noEmit": true, "types": [] }, "include": ["src"] }\n',
  "src/shapes.ts": `export interface Shape {
  area(): number;
}
export abstract class Base implements Shape {
  abstract area(): number;
}
export class Circle extends Base {
  constructor(readonly radius: number) {
    super();
  }
  /** The area of the circle. */
  area(): number {
    return Math.PI * this.radius ** 2;
  }
}
export function scale(shape: Circle, by: number): Circle {
  return new Circle(shape.radius * by);
}
`,
  "src/main.ts": `import { Circle, scale, type Shape } from "./shapes.js";

const circle = new Circle(2);
const wrong: number = "x";

export function total(shapes: Shape[]): number {
  let sum = 0;
  for (const shape of shapes) {
    sum += shape.area();
  }
  return sum;
}

export const result = total([circle, scale(circle, 2)]);
export const twice = scale(scale(circle, 2), 3);
`,
};

export const pythonProject: Files = {
  "pyproject.toml": '[project]\nname = "demo"\nversion = "0"\n',
  "shapes.py": `from abc import ABC, abstractmethod


class Shape(ABC):
    @abstractmethod
    def area(self) -> float: ...


class Circle(Shape):
    """A circle."""

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def area(self) -> float:
        return 3.14 * self.radius**2


def scale(shape: Circle, by: float) -> Circle:
    return Circle(shape.radius * by)
`,
  "main.py": `from shapes import Circle, Shape, scale

circle = Circle(2)
wrong: int = "x"


def total(shapes: list[Shape]) -> float:
    result = 0.0
    for shape in shapes:
        result += shape.area()
    return result


print(total([circle, scale(circle, 2)]))
`,
  "other.py": `from shapes import scale, Circle

bigger = scale(Circle(1), 3)
biggest = scale(bigger, 4)
`,
};

export const cppProject: Files = {
  "compile_commands.json": JSON.stringify(
    ["main.cpp", "shapes.cpp"].map((file) => ({ directory: ".", command: `c++ -std=c++17 -c ${file}`, file })),
  ),
  "shapes.h": `#pragma once
namespace geo {
struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Circle : Shape {
  explicit Circle(double radius) : radius(radius) {}
  double area() const override;
  double radius;
};
Circle scale(const Circle &shape, double by);
}  // namespace geo
`,
  "shapes.cpp": `#include "shapes.h"
namespace geo {
double Circle::area() const { return 3.14 * radius * radius; }
Circle scale(const Circle &shape, double by) { return Circle(shape.radius * by); }
}  // namespace geo
`,
  "main.cpp": `#include "shapes.h"

double total(const geo::Shape &shape) {
  double sum = shape.area();
  return sum;
}

int main() {
  geo::Circle circle(2);
  int wrong = "x";
  auto bigger = geo::scale(circle, 2);
  if (bigger.radius > 1) {
    return static_cast<int>(total(bigger));
  }
  return static_cast<int>(total(geo::scale(circle, 3)));
}
`,
};

export const webProject: Files = {
  "package.json": '{ "name": "demo",\n"private":true }\n',
  "style.css": `@import "base.css";
:root {
  --main: #ff8800;
}
.button {
  color: var(--main);
  colr: red;
  background: rgba(0, 0, 0, 0.5);
}
.button:hover { color: var(--main); }
`,
  "base.css": "body { margin: 0; }\n",
  "index.html": `<!doctype html>
<html>
<head><link rel="stylesheet" href="style.css"><style>p { color: #123456; }</style></head>
<body>
<section>
<p class="x">one</p>
<div>two</div>
</section>
</body>
</html>
`,
  "schema.json":
    '{ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": { "port": { "type": "number", "description": "The port to listen on." } } }\n',
  "settings.json": '{ "$schema": "./schema.json", "port": "x", "color": "#aabbcc" }\n',
  "broken.json": '{ "a": 1, }\n',
  Dockerfile: `# syntax=docker/dockerfile:1
ARG VERSION=20
FROM node:20 AS build
ENV NAME=demo
RUN echo $NAME
COPY . /app
FROM debian
COPY --from=build /app /app
BOGUS line
`,
};
