# Saves the scenes yard.tscn, with tile maps and a navigation mesh, plan.tscn, with two navigation polygons,
# field.tscn, with a tile map whose ground has navigation polygons, and empty.tscn.
extends SceneTree

const GROUND = 0
const WALL = 1
const MEADOW = 2
const ATLAS = 3


func _initialize():
	var yard = Node.new()
	var maps = add(Node2D.new(), yard, "maps")
	maps.position = Vector2(32, 16)
	maps.scale = Vector2(2, 2)
	var tiles = tile_set()
	draw(add(TileMap.new(), maps, "ground"), tiles, [".......", ".......", "... n..", "......."])
	draw(add(TileMap.new(), maps, "walls"), tiles, ["  #", "  s", "  #"])
	var hidden = add(TileMap.new(), maps, "later")
	hidden.add_to_group("waystar_ignore", true)
	draw(hidden, tiles, ["#######"])
	var region = add(NavigationMeshInstance.new(), add(Spatial.new(), yard, "rooms"), "region")
	region.get_parent().translation = Vector3(100, 2, 50)
	region.navmesh = NavigationMesh.new()
	region.navmesh.set_agent_radius(0.5)
	fill(region.navmesh, PoolVector3Array([
		Vector3(0, 0, 0), Vector3(0, 0, 4), Vector3(6, 0, 4), Vector3(10, 0, 4), Vector3(10, 0, 0),
		Vector3(6, 1, 12), Vector3(10, 1, 12),
	]), [[0, 1, 2, 3, 4], [2, 5, 6, 3]])
	save(yard, "yard")

	var plan = Node2D.new()
	plan.position = Vector2(0, 200)
	for i in range(2):
		var part = add(NavigationPolygonInstance.new(), plan, "part%d" % i)
		part.position = Vector2(64 * i, 0)
		part.navpoly = NavigationPolygon.new()
		fill(part.navpoly, PoolVector2Array([Vector2(0, 0), Vector2(64, 0), Vector2(64, 64), Vector2(0, 64)]),
			[[0, 1, 2, 3]])
	save(plan, "plan")

	var field = TileMap.new()
	draw(field, tile_set(), ["m.m", "mm#", "gs."])
	save(field, "field")
	save(Node2D.new(), "empty")
	quit()


# Returns tiles with nothing, with a collision shape, with a shape and a navigation polygon, and an atlas of
# a tile with a polygon, one with a shape, and one with nothing.
func tile_set():
	var tiles = TileSet.new()
	for id in [GROUND, WALL, MEADOW]:
		tiles.create_tile(id)
	for id in [WALL, MEADOW]:
		tiles.tile_add_shape(id, RectangleShape2D.new(), Transform2D())
	tiles.tile_set_navigation_polygon(MEADOW, NavigationPolygon.new())
	tiles.create_tile(ATLAS)
	tiles.tile_set_tile_mode(ATLAS, TileSet.ATLAS_TILE)
	tiles.autotile_set_navigation_polygon(ATLAS, NavigationPolygon.new(), Vector2(0, 0))
	tiles.tile_add_shape(ATLAS, RectangleShape2D.new(), Transform2D(), false, Vector2(1, 0))
	return tiles


func draw(tile_map, tiles, rows):
	var parts = {".": [GROUND, 0], "#": [WALL, 0], "m": [MEADOW, 0], "g": [ATLAS, 0], "s": [ATLAS, 1], "n": [ATLAS, 2]}
	tile_map.cell_size = Vector2(8, 8)
	tile_map.tile_set = tiles
	for y in range(rows.size()):
		for x in range(rows[y].length()):
			if rows[y][x] != " ":
				var part = parts[rows[y][x]]
				tile_map.set_cell(x - 1, y - 2, part[0], false, false, false, Vector2(part[1], 0))


func fill(mesh, vertices, polygons):
	mesh.vertices = vertices
	for polygon in polygons:
		mesh.add_polygon(PoolIntArray(polygon))


func add(node, parent, title):
	node.name = title
	parent.add_child(node)
	return node


func save(root, title):
	own(root, root)
	var scene = PackedScene.new()
	scene.pack(root)
	ResourceSaver.save("res://%s.tscn" % title, scene)
	root.free()


func own(node, root):
	for child in node.get_children():
		child.owner = root
		own(child, root)
