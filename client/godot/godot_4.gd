# Godot 4.3 and later as export_waystar.gd uses it. No test runs this file.
extends RefCounted


static func instance(path):
	return load(path).instantiate()


# Writes a file, and prints what to do with it. Returns an error, or an empty text.
static func write(path, lines, command):
	var file = FileAccess.open(path, FileAccess.WRITE)
	if file == null:
		return "cannot write %s: error %d" % [path, FileAccess.get_open_error()]
	for line in lines:
		file.store_line(line)
	file.close()
	print(command)
	return ""


static func is_tile_map(node):
	return node is TileMapLayer and node.tile_set != null


# Returns the navigation mesh of a node, or null.
static func navigation_of(node):
	if node is NavigationRegion3D:
		return node.navigation_mesh
	return node.navigation_polygon if node is NavigationRegion2D else null


static func cell_size(tile_map):
	return Vector2(tile_map.tile_set.tile_size)


static func has_square_cells(tile_map):
	return tile_map.tile_set.tile_shape == TileSet.TILE_SHAPE_SQUARE


# Returns "." if the tile of a cell has a navigation polygon, "#" if it only has collision shapes, and an
# empty text if it has neither.
static func tile_at(tile_map, cell):
	var tile = tile_map.get_cell_tile_data(cell)
	if tile == null:
		return ""
	for layer in tile_map.tile_set.get_navigation_layers_count():
		if tile.get_navigation_polygon(layer) != null:
			return "."
	for layer in tile_map.tile_set.get_physics_layers_count():
		if tile.get_collision_polygons_count(layer) > 0:
			return "#"
	return ""
