import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type * as v1 from './messages.js';

export type LocationInit = MessageInitShape<typeof v1.LocationSchema>;
export type ShapeInit = Fields<typeof v1.ShapeSchema, never>;
export type EditInit = MessageInitShape<typeof v1.EditSchema>;
export type XY = readonly [x: number, y: number];
// A cell [x, y], a position [x, y, z], the id of a node, or a message.
export type Place = XY | readonly [x: number, y: number, z: number] | string | LocationInit;
// One place, or several.
export type Goals = Place | readonly Place[];
// The fields of a message without some.
export type Fields<Schema extends DescMessage, Names extends string> = Omit<
  Exclude<MessageInitShape<Schema>, MessageShape<Schema>>,
  Names | '$typeName'
>;

export function location(place: Place): LocationInit {
  if (typeof place === 'string') return { place: { case: 'node', value: place } };
  if (!('length' in place)) return place;
  const [x, y, z] = place;
  if (z !== undefined) return { place: { case: 'position', value: { x, y, z } } };
  if (x === (x | 0) && y === (y | 0)) return { place: { case: 'cell', value: { x, y } } };
  throw new RangeError(`a cell has whole numbers of 32 bits, not [${x}, ${y}]: a position is [x, y, z]`);
}

// Shapes. Several in one: { ...rect(3, 1, 7, 1), ...disc(14, 12, 2) }.
export const cells = (...places: XY[]): ShapeInit => ({ cells: places.map(([x, y]) => ({ x, y })) });
export const rect = (x: number, y: number, width: number, height: number): ShapeInit => ({
  rectangles: [{ x, y, width, height }],
});
export const disc = (x: number, y: number, radius: number): ShapeInit => ({ discs: [{ center: { x, y }, radius }] });

// Edits. `putObstacle` adds an obstacle or replaces all of it; `fields` are others of Obstacle: an effect, a lifetime.
export const block = (shape: ShapeInit): EditInit => ({ edit: { case: 'block', value: shape } });
export const unblock = (shape: ShapeInit): EditInit => ({ edit: { case: 'unblock', value: shape } });
export const putObstacle = (
  id: string,
  shape: ShapeInit,
  fields: Fields<typeof v1.ObstacleSchema, 'id' | 'shape'> = {},
): EditInit => ({ edit: { case: 'putObstacle', value: { ...fields, id, shape } } });
export const moveObstacle = (id: string, dx: number, dy: number): EditInit => ({
  edit: { case: 'moveObstacle', value: { id, dx, dy } },
});
export const removeObstacle = (id: string): EditInit => ({ edit: { case: 'removeObstacle', value: id } });
