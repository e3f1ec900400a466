# Godot 3 as export_waystar.gd uses it.
extends Reference


static func instance(path):
	return load(path).instance()


# Writes a file, and prints what to do with it. Returns an error, or an empty text.
static func write(path, lines, command):
	var file = File.new()
	var error = file.open(path, File.WRITE)
	if error != OK:
		return "cannot write %s: error %d" % [path, error]
	for line in lines:
		file.store_line(line)
	file.close()
	print(command)
	return ""


static func is_tile_map(node):
	return node is TileMap and node.tile_set != null


# Returns the navigation mesh of a node, or null.
static func navigation_of(node):
	if node is NavigationMeshInstance:
		return node.navmesh
	return node.navpoly if node is NavigationPolygonInstance else null


static func cell_size(tile_map):
	return tile_map.cell_size


static func has_square_cells(tile_map):
	return tile_map.mode == TileMap.MODE_SQUARE and tile_map.cell_half_offset == TileMap.HALF_OFFSET_DISABLED


# Returns "." if the tile of a cell has a navigation polygon, "#" if it only has collision shapes, and an
# empty text if it has neither.
static func tile_at(tile_map, cell):
	var tiles = tile_map.tile_set
	var id = tile_map.get_cellv(cell)
	var is_single = tiles.tile_get_tile_mode(id) == TileSet.SINGLE_TILE
	var part = tile_map.get_cell_autotile_coord(int(cell.x), int(cell.y))
	var polygon = (
		tiles.tile_get_navigation_polygon(id)
		if is_single
		else tiles.autotile_get_navigation_polygon(id, part)
	)
	if polygon != null:
		return "."
	for shape in tiles.tile_get_shapes(id):
		if is_single or shape.autotile_coord == part:
			return "#"
	return ""
