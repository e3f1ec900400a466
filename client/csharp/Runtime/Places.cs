using System.Linq;

namespace Waystar.V1 {
  // A place: (3, 4) is a cell, (2.5, 2, 0) a position, and "harbour" a node.
  public sealed partial class Location {
    public static implicit operator Location((int X, int Y) cell) => new Cell { X = cell.X, Y = cell.Y };
    public static implicit operator Location((double X, double Y, double Z) position) =>
      new Position { X = position.X, Y = position.Y, Z = position.Z };
    public static implicit operator Location(string node) => new Location { Node = node };
    public static implicit operator Location(Cell cell) => new Location { Cell = cell };
    public static implicit operator Location(Position position) => new Location { Position = position };
  }
}

namespace Waystar {
  using V1;

  /// <summary>Shapes of one part. Make a Shape yourself for one of many parts.</summary>
  public static class Shapes {
    public static Shape Cells(params (int X, int Y)[] cells) =>
      new Shape { Cells = cells.Select(each => new Cell { X = each.X, Y = each.Y }).ToList() };

    /// <summary>A rectangle by its top left cell and its size.</summary>
    public static Shape Rect(int x, int y, int width, int height) =>
      new Shape { Rectangles = { new Rectangle { X = x, Y = y, Width = width, Height = height } } };

    public static Shape Disc(double x, double y, double radius) =>
      new Shape { Discs = { new Disc { Center = new Point { X = x, Y = y }, Radius = radius } } };
  }

  /// <summary>The edits that games make. Make an Edit yourself for any other.</summary>
  public static class Edits {
    /// <summary>Adds a named obstacle, or replaces it.</summary>
    public static Edit PutObstacle(string id, Shape shape) =>
      new Edit { PutObstacle = new Obstacle { Id = id, Shape = shape } };

    public static Edit MoveObstacle(string id, double dx, double dy) =>
      new Edit { MoveObstacle = new MoveObstacle { Id = id, Dx = dx, Dy = dy } };

    public static Edit RemoveObstacle(string id) => new Edit { RemoveObstacle = id };
    public static Edit Block(Shape shape) => new Edit { Block = shape };
    public static Edit Unblock(Shape shape) => new Edit { Unblock = shape };
  }
}
