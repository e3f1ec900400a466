# Writes the tile maps and navigation meshes of a scene as files that Waystar imports:
#
#   godot --no-window -s waystar/export_waystar.gd --scene=res://yard.tscn --out=maps
#
# All tile maps become one grid, maps/yard.txt, and all navigation meshes one mesh, maps/yard.obj. Nodes in
# the group "waystar_ignore" are skipped, with all nodes below them. Of the scripts of the scene, only _init
# runs. godot_3.gd and godot_4.gd, beside this file, have what differs between the versions.
extends SceneTree

# The script for this version of Godot.
var godot


func _initialize():
	var folder = get_script().resource_path.get_base_dir()
	godot = load("%s/godot_%d.gd" % [folder, Engine.get_version_info().major])
	var options = {"--scene": "", "--out": "."}
	for argument in OS.get_cmdline_args():
		var parts = argument.split("=", true, 1)
		if parts.size() == 2 and options.has(parts[0]):
			options[parts[0]] = parts[1]
	var error = export_scene(options["--scene"], options["--out"])
	if error != "":
		printerr("export_waystar: " + error)
	quit(0 if error == "" else 1)


# Writes the files of a scene and prints how to import them. Returns an error, or an empty text.
func export_scene(path, folder):
	if not ResourceLoader.exists(path):
		return "there is no scene \"%s\": give --scene=res://NAME.tscn" % path
	var scene = godot.instance(path)
	var layers = []
	var meshes = []
	collect(scene, layers, meshes)
	var base = folder + "/" + path.get_file().get_basename()
	var error = ""
	if layers.size() + meshes.size() == 0:
		error = "the scene has no tile map and no navigation mesh"
	if error == "" and layers.size() > 0:
		error = write_grid(layers, base + ".txt")
	if error == "" and meshes.size() > 0:
		error = write_mesh(meshes, base + ".obj")
	scene.free()
	return error


# Appends the tile maps and the nodes with navigation meshes at and below a node.
func collect(node, layers, meshes):
	if node.is_in_group("waystar_ignore"):
		return
	if godot.is_tile_map(node):
		if node.get_used_cells().size() > 0:
			layers.append(node)
	elif godot.navigation_of(node) != null:
		meshes.append(node)
	for child in node.get_children():
		collect(child, layers, meshes)


# Writes the tile maps as layers of one grid. A cell is blocked if a tile of any layer blocks it, or if no
# tile makes it ground.
func write_grid(layers, path):
	var first = layers[0]
	var to_scene = to_scene_of(first)
	var side = godot.cell_size(first).x * to_scene.x.x
	var bounds = first.get_used_rect()
	for layer in layers:
		var other = to_scene_of(layer)
		var size = godot.cell_size(layer)
		if not godot.has_square_cells(layer) or size.x != size.y:
			return "%s: only tile maps with square cells can be exported" % layer.name
		if other.x.y != 0 or other.y.x != 0 or other.x.x <= 0 or other.x.x != other.y.y:
			return "%s: the tile map is rotated, mirrored or stretched" % layer.name
		if size.x * other.x.x != side or other.origin != to_scene.origin:
			return "%s: its cells are not those of %s" % [layer.name, first.name]
		bounds = bounds.merge(layer.get_used_rect())
	var rows = []
	for _y in range(bounds.size.y):
		rows.append([])
		for _x in range(bounds.size.x):
			rows[-1].append("")
	for layer in layers:
		add_tiles(layer, bounds.position, rows)
	var corner = to_scene.origin + bounds.position * side
	var lines = ["origin %f %f" % [corner.x, corner.y], "cell_size %f" % side, "map"]
	for row in rows:
		var line = ""
		for symbol in row:
			line += "#" if symbol == "" else symbol
		lines.append(line)
	return godot.write(path, lines, "waystar map import " + path)


func add_tiles(layer, corner, rows):
	var symbols = {}
	for cell in layer.get_used_cells():
		symbols[cell] = godot.tile_at(layer, cell)
	var plain = "" if symbols.values().has(".") else "."
	for cell in symbols:
		var row = rows[cell.y - corner.y]
		var x = cell.x - corner.x
		var symbol = plain if symbols[cell] == "" else symbols[cell]
		if symbol == "#" or row[x] == "":
			row[x] = symbol


# Writes navigation meshes as OBJ, where y is the height. The plan of 2D polygons is x and z, at height 0.
func write_mesh(nodes, path):
	var lines = []
	var first_vertex = 1
	var radius = 0
	for node in nodes:
		var to_scene = to_scene_of(node)
		var mesh = godot.navigation_of(node)
		for vertex in mesh.vertices:
			var place = to_scene * vertex
			if place is Vector2:
				place = Vector3(place.x, 0, place.y)
			lines.append("v %f %f %f" % [place.x, place.y, place.z])
		for i in range(mesh.get_polygon_count()):
			var line = "f"
			for corner in mesh.get_polygon(i):
				line += " %d" % (first_vertex + corner)
			lines.append(line)
		first_vertex += mesh.vertices.size()
		if mesh.has_method("get_agent_radius"):
			radius = mesh.get_agent_radius()
	return godot.write(path, lines, "waystar map import %s --mesh-agent-radius %s" % [path, radius])


# Returns the transform from a node to the scene, which need not be in the tree.
func to_scene_of(node):
	var transform = node.get_transform()
	var parent = node.get_parent()
	while parent != null and parent.has_method("get_transform"):
		transform = parent.get_transform() * transform
		parent = parent.get_parent()
	return transform
